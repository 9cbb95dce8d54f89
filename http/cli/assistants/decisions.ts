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
