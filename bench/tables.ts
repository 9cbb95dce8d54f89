/** The tables that can be measured, in the order they are printed. */
export const tables = [
  "checksums",
  "commit",
  "deliveries",
  "dispatcher",
  "expressions",
  "fairness",
  "growth",
  "hooks",
  "http",
  "httpSize",
  "mailbox",
  "pages",
  "polls",
  "recording",
  "recovery",
  "replays",
  "replaying",
  "searching",
  "searchCost",
  "toolCalls",
] as const;

/** How the benchmark is called. */
export const usage = `npm run bench -- [TABLE …]

  TABLE  one of ${tables.join(", ")}; without one, all`;
