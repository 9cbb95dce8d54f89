/** The tables that can be measured, in the order they are printed. */
export const tables = [
  "checksums",
  "commit",
  "dispatcher",
  "expressions",
  "fairness",
  "growth",
  "hooks",
  "http",
  "httpSize",
  "mailbox",
  "pages",
  "recovery",
] as const;
