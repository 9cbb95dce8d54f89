import { z } from "zod";
import type { Shown, Stored } from "../../view.js";

/** A delivery: the payload of a webhook or a poll response for an integration. The machine documents the states. */

/** Where a delivery comes from. A `redelivery` repeats a stored delivery at a user's request. */
export const deliverySources = ["webhook", "poll", "redelivery"] as const;
export const deliveryStates = ["accepted", "working", "waiting", "done", "failed", "ignored", "unrouted"] as const;

export const entryOutcomes = ["opened", "said", "unmatched", "unrouted", "failed"] as const;

/** The outcome of one entry that an event's `when` accepted. */
export const deliveryEntrySchema = z.strictObject({
  event: z.int().describe("The index of the event in the definition, from 0."),
  item: z
    .int()
    .nullable()
    .describe(
      "The index of the entry in `forEach`. Null for an event without `forEach`, and for the result of all entries " +
        "beyond the limit.",
    ),
  outcome: z
    .enum(entryOutcomes)
    .describe(
      "`opened`: opened a task. `said`: added a note to a task. `unmatched`: no task has its marks. `unrouted`: no line " +
        "for a new task.",
    ),
  taskId: z.string().nullable().describe("The task that the entry opened or added to; null for none."),
  reason: z.string().nullable().describe("Why the entry failed, or what it could not use; otherwise null."),
});

/** A delivery as lists return it. */
export const deliveryItemSchema = z
  .strictObject({
    id: z.string().describe("The id of the delivery (`dlv_…`)."),
    integrationId: z.string().describe("The id of the integration that received the delivery."),
    source: z
      .enum(deliverySources)
      .describe("`webhook`: a host sent it. `poll`: the response to a poll. `redelivery`: repeats `redeliveryOf`."),
    key: z
      .string()
      .nullable()
      .describe("Identifies repetitions of the delivery by its sender; null if the delivery has no key."),
    receivedAt: z.string().describe("When the service stored the delivery, as an RFC 3339 time."),
    state: z
      .enum(deliveryStates)
      .describe(
        "`accepted`, `working` and `waiting` (for a retry of a lookup) are in progress. `ignored`: no event matches. " +
          "`unrouted`: no route or line for a task.",
      ),
    reason: z.string().nullable().describe("Why the delivery ended in its state, in one sentence; null if it is done."),
    endedAt: z.string().nullable().describe("When the service finished the delivery; null until then."),
    attempts: z.int().describe("Number of attempts of the lookup that the delivery waits for."),
    retryAt: z.string().nullable().describe("When the service retries the lookup; null unless the state is `waiting`."),
    keyProblem: z
      .string()
      .nullable()
      .describe(
        "Why the delivery has no key, although the definition sets `delivery`; otherwise null. Without a key, " +
          "the service processes every repetition.",
      ),
    repeated: z.int().describe("Number of repeated deliveries with the same key. The service did not process them."),
    bodyBytes: z
      .int()
      .nullable()
      .describe("The size of the body, in bytes; null if the body was dropped to make space for newer bodies."),
    redeliveryOf: z.string().nullable().describe("The delivery that this one processes again; null if it is new."),
    redeliveredAs: z
      .string()
      .nullable()
      .describe("The latest delivery that processes this one again; null if there is none."),
  })
  .meta({ title: "delivery-item" });

export type DeliveryState = (typeof deliveryStates)[number];
export type EntryOutcome = (typeof entryOutcomes)[number];

/** The outcome of one entry. */
export type DeliveryEntry = Shown<typeof deliveryEntrySchema>;

/** A stored body. */
export interface DeliveryBody {
  /** SHA-256 (hex) of a body that is stored once per workspace. Null for a body that belongs to one delivery. */
  readonly digest: string | null;
  /** The size of the body, in bytes. */
  readonly bytes: number;
  /** The bytes of a short body; absent if they are stored elsewhere. */
  readonly content?: Uint8Array;
}

/** A stored delivery. */
export interface DeliveryRow extends Stored<typeof deliveryItemSchema, "keyProblem" | "bodyBytes"> {
  readonly teamId: string;
  /** The block of the definition whose events the delivery raises. */
  readonly block: "webhook" | "poll";
  /** Why the definition's key expression has no value for this delivery; absent otherwise. */
  readonly keyProblem?: string;
  /** The headers by lower-case name, without credentials and signatures. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body; null if it was dropped to make space for newer bodies. */
  readonly body: DeliveryBody | null;
  /** The cursor of the poll; null for a webhook. */
  readonly cursor: string | null;
  /** The hook occurrences and events that caused the delivery, oldest first. */
  readonly causes: readonly string[];
  /** Number of entries that were skipped because the `when` of their event was not true. */
  readonly skipped: number;
}

/** The values of a new delivery. */
export interface NewDelivery
  extends Pick<
    DeliveryRow,
    | "integrationId"
    | "teamId"
    | "source"
    | "block"
    | "key"
    | "keyProblem"
    | "headers"
    | "cursor"
    | "causes"
    | "redeliveryOf"
  > {
  /** The received bytes, or a body that is already stored for the workspace. */
  readonly body: Uint8Array | (DeliveryBody & { readonly digest: string });
}

/** Returns whether a delivery in this state has ended. */
export function isOver(state: DeliveryState): boolean {
  return state === "done" || state === "failed" || state === "ignored" || state === "unrouted";
}

/** Maximum body size, in bytes. */
export const MAX_BODY_BYTES = 5 * 1024 * 1024;
