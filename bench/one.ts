import { run as checksums } from "./checksums.js";
import { run as commit } from "./commit.js";
import { run as create } from "./create.js";
import { run as deliveries } from "./deliveries.js";
import { run as dispatcher } from "./dispatcher.js";
import { run as expressions } from "./expressions.js";
import { run as fairness } from "./fairness.js";
import { run as growth } from "./growth.js";
import { run as hooks } from "./hooks.js";
import { run as http } from "./http.js";
import { run as httpSize } from "./http-size.js";
import { run as mailbox } from "./mailbox.js";
import { run as pages } from "./pages.js";
import { run as polls } from "./polls.js";
import { run as queues } from "./queues.js";
import { run as recording } from "./recording.js";
import { run as recovery } from "./recovery.js";
import { run as replaying } from "./replaying.js";
import { run as replays } from "./replays.js";
import { run as scale } from "./scale.js";
import { run as searchCost } from "./search-cost.js";
import { run as searching } from "./searching.js";
import { run as senders } from "./senders.js";
import { run as sockets } from "./sockets.js";
import { run as startup } from "./startup.js";
import { printTable } from "./support/table.js";
import { tables } from "./tables.js";
import { run as task } from "./task.js";
import { run as toolCalls } from "./tool-calls.js";

/**
 * The function that measures and prints each table. The first argument of the program names the table. For `create` and
 * `task`, a second argument is the folder of a built checkout, which is then measured too.
 */
const measure: Readonly<Record<(typeof tables)[number], () => Promise<void>>> = {
  checksums: async () => printTable(await checksums()),
  commit: async () => printTable(await commit()),
  create: () => create(process.argv[3]),
  deliveries,
  dispatcher,
  expressions,
  fairness,
  growth,
  hooks,
  http,
  httpSize,
  mailbox,
  pages,
  polls,
  queues,
  recording,
  recovery,
  replays,
  replaying,
  searchCost,
  senders,
  sockets,
  scale: () => scale(process.argv[3] === undefined ? undefined : Number(process.argv[3])),
  searching: async () => printTable(await searching()),
  startup: async () => printTable(await startup()),
  task: () => task(process.argv[3]),
  toolCalls: async () => printTable(await toolCalls()),
};

const name = tables.find((table) => table === process.argv[2]);
if (name === undefined) {
  const isHelp = process.argv.includes("--help");
  console[isHelp ? "log" : "error"](
    `node dist/bench/one.js TABLE [MOST]\n\n  TABLE  one of ${tables.join(", ")}\n  MOST   of scale: the most tasks`,
  );
  process.exitCode = isHelp ? 0 : 2;
} else await measure[name]();
