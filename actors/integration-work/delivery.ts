/** A delivery: what a webhook, or the answer to a poll, brought to an integration. Its states stand in the machine. */

/** Where it came from; a redelivery was asked for by a person, of one that is stored. */
export const deliverySources = ["webhook", "poll", "redelivery"] as const;
export type DeliverySource = (typeof deliverySources)[number];

export const deliveryStates = ["accepted", "working", "waiting", "done", "failed", "ignored", "unrouted"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** What became of one entry of one event: of all that an event's `when` let through. */
export const entryOutcomes = ["opened", "said", "unmatched", "unrouted", "failed"] as const;
export type EntryOutcome = (typeof entryOutcomes)[number];

/** An entry of an event. Events are counted from 0 in the definition, entries in the event's `forEach`. */
export interface DeliveryEntry {
  readonly event: number;
  /** Null for an event without `forEach`, and for all entries beyond the most. */
  readonly item: number | null;
  readonly outcome: EntryOutcome;
  readonly taskId: string | null;
  /** Why it failed or was not routed, or what went without effect; else null. */
  readonly reason: string | null;
}

/** A body that is stored. */
export interface DeliveryBody {
  /** SHA-256, hex, of one that is stored once for its workspace; null for one that is its delivery's alone. */
  readonly digest: string | null;
  /** Its length. */
  readonly bytes: number;
  /** A short one itself; absent where it is stored elsewhere. */
  readonly content?: Uint8Array;
}

export interface DeliveryRow {
  readonly id: string;
  readonly integrationId: string;
  readonly teamId: string;
  readonly source: DeliverySource;
  /** The block of the definition whose events it raises. */
  readonly block: "webhook" | "poll";
  /** Identifies what its sender sends again; null where nothing does. */
  readonly key: string | null;
  /** Why nothing identifies it, though the definition says what does; absent for none. */
  readonly keyProblem?: string;
  readonly receivedAt: string;
  readonly state: DeliveryState;
  /** Why it is in its state, or null. */
  readonly reason: string | null;
  readonly endedAt: string | null;
  /** How often a lookup was tried since the last one that went through. */
  readonly attempts: number;
  /** When its lookup is tried again, while it waits. */
  readonly retryAt: string | null;
  /** By lower-case name, without credentials and signatures. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null once it was dropped for newer ones. */
  readonly body: DeliveryBody | null;
  /** The cursor that a poll had; null for a webhook. */
  readonly cursor: string | null;
  /** The firings and events that led to it, oldest first. */
  readonly causes: readonly string[];
  /** How often it came again under its key. */
  readonly repeated: number;
  /** Entries that no `when` let through. */
  readonly skipped: number;
  readonly redeliveryOf: string | null;
  /** The last delivery that repeats it. */
  readonly redeliveredAs: string | null;
}

/** What is recorded of a delivery to be. */
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
  /** The bytes that came, or a body that is stored for its workspace. */
  readonly body: Uint8Array | (DeliveryBody & { readonly digest: string });
}

/** Whether it is over. */
export function isOver(state: DeliveryState): boolean {
  return state === "done" || state === "failed" || state === "ignored" || state === "unrouted";
}

/** Longest body, in bytes. */
export const MAX_BODY_BYTES = 5 * 1024 * 1024;
