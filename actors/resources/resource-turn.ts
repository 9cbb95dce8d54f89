import type { DirectedWriting } from "../../runtime/directories/directory.js";
import type { Turn } from "../../runtime/turns/turn.js";

/** The parts of a turn that writes of resources use. A dry run has them without a turn. */
export type ResourceTurn = DirectedWriting & Pick<Turn, "now" | "self" | "newId" | "publishChange">;
