import { isDeepStrictEqual } from "node:util";
import type { EditOutcome } from "../../../../actors/config-pull-requests/edit/station-edit.js";
import { editIn, type TreeFiles, toStation, toTree, toWanted } from "../../../support/station-edit.js";
import type { Tally } from "./generated-edits.js";

/** The start of an HCL interpolation; split so that it does not look like a JavaScript template. */
export const OPEN = "$" + "{";
/** The text of a prompt before and after an edit. */
export const [WAS, IS] = ["Do it.\n", "Do it well.\n"];

/** A repository layout, and the expected outcome of an edit in it. */
export interface Layout {
  readonly says: string;
  /** The path of the file that contains the line's HCL. */
  readonly path: string;
  readonly files: TreeFiles;
  /**
   * What the edit changes: `model` is the station's model in the source; `prompt` is the prompt, which is in a file of
   * its own.
   */
  readonly change: "model" | "prompt";
  /**
   * The code of the expected refusal, and a pattern for the file and line that its message names. Null if the edit
   * succeeds.
   */
  readonly refused: { readonly code: string; readonly place: RegExp } | null;
}

interface Written {
  readonly prompt?: string;
  readonly team?: string;
  readonly more?: string;
  readonly name?: string;
}

/** Returns the HCL of a line with the key `web` and the station `plan`. `name` is the resource's name. */
export function line({ prompt, team, more = "", name = "web" }: Written): string {
  const attributes = [
    ...['key    = "plan"', 'name   = "Plan"', 'kind   = "work"', 'model  = "m"'],
    ...(prompt === undefined ? [] : [`prompt = ${prompt}`]),
  ];
  return [
    `resource "service_line" "${name}" {`,
    ...(team === undefined ? [] : [`  team_id = ${team}`]),
    '  key = "web"',
    ...["  stations = [", "    {", ...attributes.map((each) => `      ${each}`), "    },", "  ]"],
    ...[more, "}", ""],
  ].join("\n");
}

/** Edits a layout. Returns what is wrong with the outcome; null if nothing is wrong. */
export async function editLayout({ path, files, change, refused }: Layout, tally: Tally): Promise<string | null> {
  const [live, now] =
    change === "model" ? [{ model: "m" }, { model: "n" }] : [{ model: "m", prompt: WAS }, { prompt: IS }];
  const wanted = { ...toWanted(toStation(live), now, path), repository: "acme/infra", branch: "main" };
  const outcome = await editIn(toTree(files), wanted);
  if ("refused" in outcome) {
    const { code, message, attribute } = outcome.refused;
    tally.refused.set(code, (tally.refused.get(code) ?? 0) + 1);
    if (refused === null) return `refused: ${code} ${message}`;
    if (code !== refused.code || !refused.place.test(message)) return `${code} ${message}`;
    const set = change === "model" ? "n" : IS;
    return outcome.refused.wanted === set && attribute === change ? null : `it wants ${outcome.refused.wanted}`;
  }
  tally.edited += 1;
  return refused === null ? lookUpFault(outcome, files, { path, change }) : "it should be refused";
}

/**
 * Compares the outcome with an edit that changes only the wanted value. Returns the difference; null if there is none.
 */
function lookUpFault(
  outcome: Extract<EditOutcome, { readonly files: unknown }>,
  files: TreeFiles,
  { path, change }: Pick<Layout, "path" | "change">,
): string | null {
  const edited = change === "model" ? path : path.replace("main.tf", "prompts/w.md");
  const text = files[edited];
  const after = change === "model" ? String(text).replace('model  = "m"', 'model  = "n"') : IS;
  const right = [{ path: edited, before: text, after }];
  return isDeepStrictEqual(outcome.files, right) ? null : `it is ${JSON.stringify(outcome.files)}`;
}

/** Edits all layouts, and adds the faults to the tally. */
export async function editLayouts(layouts: readonly Layout[], tally: Tally): Promise<void> {
  for (const layout of layouts) {
    const wrong = await editLayout(layout, tally);
    if (wrong !== null) tally.wrong.push(`${layout.says}: ${wrong}`);
  }
}
