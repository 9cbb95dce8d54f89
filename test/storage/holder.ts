import { spawn } from "node:child_process";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { shapes } from "./shapes.js";

/**
 * Serves a store until its starter is gone, and has a process of its own that outlives it. It tells the number of that
 * process; told anything, it writes records of many shapes and ends itself with -9 as soon as they are durable.
 */
const [folder = ""] = process.argv.slice(2);
const store = await openLmdbStore({ folder });
const child = spawn("cat", [], { stdio: ["inherit", "ignore", "ignore"] });

process.on("disconnect", () => process.exit(0));
process.on("message", async () => {
  await Promise.all(shapes.map((value, index) => store.commit([{ op: "put", key: ["shape", index], value }])));
  process.kill(process.pid, "SIGKILL");
});
process.send?.(child.pid);
