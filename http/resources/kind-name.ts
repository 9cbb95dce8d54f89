import type { Kind } from "../../actors/resources/kind.js";

/** Returns the name of a kind with its article, for texts: `a team`, `an integration`. */
export function withArticle({ name }: Pick<Kind, "name">): string {
  return `${/^[aeio]/.test(name) ? "an" : "a"} ${name}`;
}
