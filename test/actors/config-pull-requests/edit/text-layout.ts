import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, line, OPEN, WAS } from "./layout.js";

const path = "lines/main.tf";

/**
 * Returns a layout with these files, in which the source uses the text file `lines/prompts/w.md`. `place` matches the
 * file and line that the refusal names; null if the edit succeeds.
 */
export function beside(says: string, files: TreeFiles, place: RegExp | null = null): Layout {
  return {
    says,
    path,
    change: "prompt",
    files: {
      [path]: line({ prompt: `file("${OPEN}path.module}/prompts/w.md")` }),
      "lines/prompts/w.md": WAS,
      ...files,
    },
    refused: place === null ? null : { code: "ambiguous", place },
  };
}
