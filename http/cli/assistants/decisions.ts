import { InvalidArgumentError, Option } from "commander";

/** What an assistant may decide for the person, once the person allows it with `--allow`. */
export const DECISIONS = [
  "answer",
  "message",
  "approve",
  "edit",
  "dismiss",
  "assign",
  "move",
  "retry",
  "stop",
  "close",
] as const;

export type Decision = (typeof DECISIONS)[number];

/** Creates the option `--allow`, a list with commas. It can be repeated; its value is the list of all. */
export function allowOption(): Option {
  const option = new Option("--allow <decisions>", "what it may decide, separated by commas (default: nothing)");
  return option.argParser<readonly Decision[]>((text, before = []) => [...before, ...text.split(",").map(toDecision)]);
}

function toDecision(text: string): Decision {
  const found = DECISIONS.find((decision) => decision === text.trim());
  if (found !== undefined) return found;
  throw new InvalidArgumentError(`It takes ${DECISIONS.join(", ")}.`);
}
