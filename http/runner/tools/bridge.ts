import { connect } from "node:net";
import { basename, dirname } from "node:path";

/**
 * A program that an agent starts as an MCP server. It connects its standard input and output to the socket whose path
 * is its argument. It ends when its input ends, or when the socket is gone.
 */
const [path = ""] = process.argv.slice(2);
// The whole path may be longer than the limit for socket paths.
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
