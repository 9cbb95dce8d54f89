import { fork } from "node:child_process";
import { once } from "node:events";
import { cpus, release, totalmem } from "node:os";
import { tables, usage } from "./tables.js";

/**
 * Prints all tables or the named tables: `npm run bench -- hooks`. Each table is measured in a separate process, so
 * that the JIT state of one table does not affect another.
 */
const wanted = process.argv.slice(2);
if (wanted.includes("--help")) {
  console.log(usage);
  process.exit(0);
}
const unknown = wanted.filter((name) => !tables.some((table) => table === name));
if (unknown.length > 0) {
  console.error(`There is no table ${unknown.join(", ")}.\n\n${usage}`);
  process.exit(1);
}

const [processor] = cpus();
const memory = Math.round(totalmem() / 2 ** 30);
console.log(
  `${cpus().length} x ${processor?.model ?? "unknown"}, ${memory} GiB, Linux ${release()}, Node ${process.version}`,
);

for (const name of tables) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const [code] = await once(fork(new URL("./one.js", import.meta.url), [name]), "exit");
  if (code !== 0) process.exit(1);
}
