import type { Kind } from "./resources/kind.js";

/** Every resource kind, in the order of the reference's table. A kind is one file and one line here. */
export const kinds: readonly Kind[] = [];
