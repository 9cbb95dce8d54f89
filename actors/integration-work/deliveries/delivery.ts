/** A delivery: the payload of a webhook or a poll response for an integration. The machine documents its states. */

/** Where a delivery comes from. A user requests a redelivery of a stored delivery. */
export const deliverySources = ["webhook", "poll", "redelivery"] as const;
export type DeliverySource = (typeof deliverySources)[number];

export const deliveryStates = ["accepted", "working", "waiting", "done", "failed", "ignored", "unrouted"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** The outcome of one entry that an event's `when` accepted. */
export const entryOutcomes = ["opened", "said", "unmatched", "unrouted", "failed"] as const;
export type EntryOutcome = (typeof entryOutcomes)[number];

/** An entry of an event. `event` is the event's index in the definition, `item` the index in its `forEach`. */
export interface DeliveryEntry {
  readonly event: number;
  /** Null for an event without `forEach`, and for the failure that stands for all entries above the limit. */
  readonly item: number | null;
  readonly outcome: EntryOutcome;
  readonly taskId: string | null;
  /** Why the entry failed or was not routed, or which of its fields had no effect; otherwise null. */
  readonly reason: string | null;
}

/** A stored body. */
export interface DeliveryBody {
  /** SHA-256 in hex of a body stored once per workspace; null for a body that belongs to one delivery. */
  readonly digest: string | null;
  /** The size of the body. */
  readonly bytes: number;
  /** The bytes of a short body; absent if they are stored elsewhere. */
  readonly content?: Uint8Array;
}

export interface DeliveryRow {
  readonly id: string;
  readonly integrationId: string;
  readonly teamId: string;
  readonly source: DeliverySource;
  /** The block of the definition whose events the delivery raises. */
  readonly block: "webhook" | "poll";
  /** The key that identifies repeated deliveries; null if there is none. */
  readonly key: string | null;
  /** Why the key of the definition has no value for this delivery; absent if it has one. */
  readonly keyProblem?: string;
  readonly receivedAt: string;
  readonly state: DeliveryState;
  /** Why the delivery is in its state, or null. */
  readonly reason: string | null;
  readonly endedAt: string | null;
  /** Number of lookup attempts since the last successful lookup. */
  readonly attempts: number;
  /** When the lookup is retried; set while the delivery waits. */
  readonly retryAt: string | null;
  /** By lower-case name, without credentials and signatures. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null if the body was dropped to store newer ones. */
  readonly body: DeliveryBody | null;
  /** The cursor of the poll; null for a webhook. */
  readonly cursor: string | null;
  /** The hook firings and events that caused the delivery, oldest first. */
  readonly causes: readonly string[];
  /** Number of repeated deliveries with the same key. */
  readonly repeated: number;
  /** Number of entries that no `when` accepted. */
  readonly skipped: number;
  readonly redeliveryOf: string | null;
  /** The latest redelivery of this delivery. */
  readonly redeliveredAs: string | null;
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
