import { cpus, release, totalmem } from "node:os";
import { run as commit } from "./commit.js";
import { run as expressions } from "./expressions.js";
import { run as hooks } from "./hooks.js";
import { run as http } from "./http.js";
import { run as httpSize } from "./http-size.js";
import { run as mailbox } from "./mailbox.js";
import { run as recovery } from "./recovery.js";
import { printTable } from "./support/table.js";

/** Prints every table, or those that are named: `npm run bench -- hooks`. */
const all = { commit: async () => printTable(await commit()), expressions, hooks, http, httpSize, mailbox, recovery };

const [processor] = cpus();
const memory = Math.round(totalmem() / 2 ** 30);
console.log(
  `${cpus().length} x ${processor?.model ?? "unknown"}, ${memory} GiB, Linux ${release()}, Node ${process.version}`,
);

const wanted = process.argv.slice(2);
for (const [name, run] of Object.entries(all)) {
  if (wanted.length === 0 || wanted.includes(name)) await run();
}
