import { spawn } from "node:child_process";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { shapes } from "./shapes.js";

/**
 * Serves a store until the parent process disconnects. At its start, this process starts a child process, and sends the
 * child's process id to the parent. The child outlives this process.
 *
 * On any message, this process writes records of many shapes. It kills itself with SIGKILL as soon as the records are
 * durable.
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
