import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { toLines } from "../command/printable.js";
import { toTimeText } from "../command/time-text.js";
import type { People } from "./people.js";

/** Formats a note: when it was written and by whom, and its text. */
export function describeNote(
  { terminal }: Pick<Context, "terminal">,
  { from, at, text }: Schema<"Task">["notes"][number],
  people: People,
): readonly string[] {
  return [
    terminal.paint("dim", `${toTimeText(terminal, at)} ${people.author(from)}:`),
    `  ${toLines(text).replaceAll("\n", "\n  ")}`,
  ];
}
