import type { KeyPart, Reading } from "../../storage/store.js";
import type { Address } from "../cells/address.js";

/**
 * A picture: in-memory state that an actor derives from rows of its partition and caches between turns, so that it does
 * not read the rows for every message. `turn.rowView(...)` returns the picture. An actor type lists its pictures in
 * `pictures`.
 *
 * The actor updates the picture itself, in the turn that writes the rows, so that picture and rows always agree. The
 * runtime drops the picture, and rebuilds it at its next use, when
 *
 * 1. a turn of the actor throws, or the actor is dropped from memory;
 * 2. another actor or another node (`Runtime.applied`) writes a row that the picture is built from.
 */
export interface RowView<View> {
  /**
   * The rows that the picture is built from: a whole table, or the rows whose ids begin with the parts after the
   * table's name.
   */
  readonly rows: readonly (readonly [table: string, ...under: KeyPart[]])[];
  /** Builds the picture from the current rows. */
  build(reading: Reading, self: Address): View;
  /** Whether two pictures are equal; by default a deep comparison. Only tests and simulation compare pictures. */
  isSame?(cached: View, built: View): boolean;
}
