import type { DirectedWriting } from "../../runtime/directories/directory.js";
import type { Turn } from "../../runtime/turns/turn.js";

/** The parts of a turn that resource writes use. A dry run implements them in memory. */
export type ResourceTurn = DirectedWriting & Pick<Turn, "now" | "self" | "newId" | "publishChange">;
