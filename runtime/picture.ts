import type { KeyPart, Reading } from "../storage/store.js";
import type { Address } from "./address.js";

/**
 * What an actor works out from rows of its partition and holds in memory between its turns, so that it need not read
 * them with every message: `turn.picture(...)` gives it. An actor type names its pictures in `pictures`.
 *
 * The actor changes what it holds itself, in the turn in which it writes the rows, so that both say the same. It is
 * dropped, and built again when it is next asked for, when
 *
 * 1. a turn of the actor throws, or the actor leaves memory;
 * 2. anybody else writes a row that it stands for: another actor, or another node (`Runtime.applied`).
 */
export interface Picture<Held> {
  /** The rows it stands for: all of a table, or those whose ids begin with the parts that follow the table's name. */
  readonly rows: readonly (readonly [table: string, ...under: KeyPart[]])[];
  /** Works it out from the rows as they are. */
  build(reading: Reading, self: Address): Held;
  /** Whether two of them say the same; without it they are compared in depth. Asked in tests and simulation alone. */
  isSame?(held: Held, built: Held): boolean;
}
