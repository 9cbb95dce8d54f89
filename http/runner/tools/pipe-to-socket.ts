import { connect } from "node:net";
import { basename, dirname } from "node:path";

/** With this flag as its first argument, the single-file runner acts as the bridge instead of as a runner. */
export const BRIDGE_FLAG = "--bridge";

/**
 * Connects this process's standard input and output to the socket at this path. The process ends when its input ends or
 * the socket closes.
 */
export function pipeToSocket(path: string): void {
  // Connect with a relative path, because the whole path may exceed the limit for socket paths.
  process.chdir(dirname(path));
  const socket = connect({ path: `./${basename(path)}` });
  process.stdin.pipe(socket);
  socket.pipe(process.stdout);
  process.stdout.on("error", () => process.exit());
  socket.on("error", (error) => {
    process.stderr.write(`Cannot reach the run's tools: ${error.message}\n`);
    process.exitCode = 1;
  });
  socket.on("close", () => process.exit());
}
