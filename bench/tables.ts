/** All tables, in printing order. */
export const tables = [
  "checksums",
  "commit",
  "create",
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
  "queues",
  "recording",
  "recovery",
  "replays",
  "replaying",
  "scale",
  "searching",
  "searchCost",
  "senders",
  "sockets",
  "startup",
  "task",
  "toolCalls",
] as const;

export const usage = `npm run bench -- [TABLE …]

  TABLE  one of ${tables.join(", ")}; without one, all`;
