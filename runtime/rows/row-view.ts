import type { KeyPart, Reading } from "../../storage/store.js";
import type { Address } from "../cells/address.js";

/**
 * In-memory state that an actor derives from rows of its partition and caches between turns, so that it does not read
 * the rows for every message. `turn.rowView(...)` returns it. An actor type lists its row views in `rowViews`.
 *
 * The actor updates the state itself, in the turn that writes the rows, so that both always agree. The runtime drops
 * the state, and rebuilds it at its next use, when
 *
 * 1. a turn of the actor throws, or the actor is dropped from memory;
 * 2. another actor or another node (`Runtime.applied`) writes a row that the state is built from.
 */
export interface RowView<View> {
  /**
   * The rows that the view is built from: a whole table, or the rows whose ids begin with the parts after the table's
   * name.
   */
  readonly rows: readonly (readonly [table: string, ...under: KeyPart[]])[];
  /** Builds the view from the current rows. */
  build(reading: Reading, self: Address): View;
  /** Whether two results of `build` are equal; by default a deep comparison. Only tests and simulation compare them. */
  isSame?(cached: View, built: View): boolean;
}
