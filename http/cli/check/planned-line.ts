import type { AttributeFault } from "../../../actors/export/from-attributes.js";

/** A line as it will be after the plan is applied, or another resource that affects runs and that no check replays. */
export interface PlannedLine {
  /** The name in messages: a resource's address in the plan, or the file. */
  readonly place: string;
  readonly what: "changed" | "added" | "removed" | "not-replayed";
  /**
   * The line's id. If it is null, `teamId` and `key` identify the line. If `teamId` or `key` is null too, the plan does
   * not say which line this is.
   */
  readonly id: string | null;
  readonly teamId: string | null;
  readonly key: string | null;
  /** The planned repositories. Null if the plan does not define them, as in a single station block. */
  readonly repositories: readonly unknown[] | null;
  readonly stations: readonly PlannedStation[];
  /** Whether `stations` are all stations of the line. */
  readonly isWhole: boolean;
  /** Errors that affect every station. */
  readonly faults: readonly AttributeFault[];
}

export interface PlannedStation {
  readonly key: string;
  readonly kind: unknown;
  /** The block in the API's form, without its id. */
  readonly block: Readonly<Record<string, unknown>>;
  /** Errors in the block. */
  readonly faults: readonly AttributeFault[];
}
