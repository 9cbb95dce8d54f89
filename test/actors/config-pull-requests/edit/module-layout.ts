import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, line } from "./layout.js";

/** The declarations of two teams, `core` and `web`. */
export const core =
  'resource "service_team" "core" {\n  key = "core"\n}\nresource "service_team" "web" {\n  key = "web"\n}\n';
/** Returns a call of a module. The call passes the id of the team `core`. */
export const call = (name: string, source: string, more = "") =>
  `module "${name}" {\n  source  = "${source}"\n  team_id = service_team.core.id\n${more}}\n`;
/** The path of the line's source: a file in the module `modules/line`. */
export const MADE = "modules/line/main.tf";
const module = line({ team: "var.team_id" });

/**
 * Returns a layout whose source is in the module `modules/line`. `place` matches the file and line that the refusal
 * names; null if the edit succeeds.
 */
export function made(says: string, files: TreeFiles, place: RegExp | null): Layout {
  const whole = { [MADE]: module, "teams.tf": core, ...files };
  return {
    says,
    path: MADE,
    change: "model",
    files: whole,
    refused: place === null ? null : { code: "ambiguous", place },
  };
}

/**
 * Like {@link made}, but no run would use the edited source. So the edit is refused as not proven, and the refusal
 * names `place`.
 */
export function idle(says: string, files: TreeFiles, place: RegExp): Layout {
  return { ...made(says, files, place), refused: { code: "not-proven", place } };
}
