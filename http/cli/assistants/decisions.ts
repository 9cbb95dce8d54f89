/** The decisions that a person can allow an assistant to make with `--allow`. */
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
