import type { KeyPart, Reading } from "../storage/store.js";
import type { Address } from "./address.js";

/**
 * In-memory state that an actor derives from rows of its partition and keeps between turns, to avoid reading the rows
 * for every message. `turn.picture(...)` returns it; an actor type lists its pictures in `pictures`.
 *
 * The actor updates the picture itself, in the turn that writes the rows, so that the two never differ. The picture is
 * dropped, and rebuilt at its next use, when
 *
 * 1. a turn of the actor throws, or the actor leaves memory;
 * 2. somebody else writes a row that it is built from: another actor, or another node (`Runtime.applied`).
 */
export interface Picture<Held> {
  /** The rows it is built from: a whole table, or the rows whose ids begin with the parts after the table's name. */
  readonly rows: readonly (readonly [table: string, ...under: KeyPart[]])[];
  /** Whether of these rows it is built from those alone whose next part is the id of its actor. */
  readonly isOfActor?: boolean;
  /** Builds it from the current rows. */
  build(reading: Reading, self: Address): Held;
  /** Whether two are equal; a deep comparison when omitted. Only tests and simulation compare. */
  isSame?(held: Held, built: Held): boolean;
}
