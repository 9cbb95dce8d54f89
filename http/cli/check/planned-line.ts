import type { AttributeFault } from "../../../actors/export/from-attributes.js";

/** A line as a plan would leave it; or another resource that changes how runs go, which no check replays. */
export interface PlannedLine {
  /** What messages call it: a resource's address in the plan, or the file. */
  readonly place: string;
  readonly what: "changed" | "added" | "removed" | "not-replayed";
  /** Which line it is: by its id, else by the team's id and its key; null where the plan does not say. */
  readonly id: string | null;
  readonly teamId: string | null;
  readonly key: string | null;
  /** Null where the plan says nothing of them: a station block alone. */
  readonly repositories: readonly unknown[] | null;
  readonly stations: readonly PlannedStation[];
  /** Whether `stations` are all of the line's. */
  readonly isWhole: boolean;
  /** What of the repositories cannot be taken. */
  readonly faults: readonly AttributeFault[];
}

export interface PlannedStation {
  readonly key: string;
  readonly kind: unknown;
  /** The block, in the form of the API, without its id. */
  readonly block: Readonly<Record<string, unknown>>;
  /** What of it cannot be taken. */
  readonly faults: readonly AttributeFault[];
}
