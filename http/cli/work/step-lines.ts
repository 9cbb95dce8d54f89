import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { toLine, toLines } from "../command/printable.js";
import type { People } from "./people.js";

/** Maximum number of lines of an output or thought while a task is followed. */
const SHORT_LINES = 10;

/** How steps are shown. */
export interface StepForm {
  readonly people: People;
  /** Whether to shorten long outputs and thoughts. */
  readonly isShort: boolean;
}

/** Returns the lines of a step's text to show. */
export function listShown(step: Schema<"Step">, { isShort }: Pick<StepForm, "isShort">): readonly string[] {
  const lines = toLines(step.text).trimEnd().split("\n");
  const mayShorten = step.from === "agent" && step.kind !== "message" && step.kind !== "error";
  return isShort && mayShorten ? shorten(lines) : lines;
}

/** Converts a step of a run to lines for a person. */
export function describeStep(
  { terminal }: Pick<Context, "terminal">,
  step: Schema<"Step">,
  form: StepForm,
): readonly string[] {
  const { kind, from, tool } = step;
  const lines = listShown(step, form);
  if (from !== "agent") return [`${terminal.paint("bold", `${form.people.author(from)}:`)} ${lines.join("\n")}`];
  switch (kind) {
    case "message":
      return lines;
    case "tool":
      return [terminal.paint("blue", `> ${toLine(tool ?? "tool")}`), ...indent(lines)];
    case "error":
      return lines.map((line) => terminal.paint("red", line));
    case "output":
    case "thought":
      return indent(lines).map((line) => terminal.paint("dim", line));
  }
}

function shorten(lines: readonly string[]): readonly string[] {
  const more = lines.length - SHORT_LINES;
  return more <= 1 ? lines : [...lines.slice(0, SHORT_LINES), `… ${more} more lines`];
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => (line === "" ? [] : [`  ${line}`]));
}
