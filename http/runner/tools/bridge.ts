import { connect } from "node:net";
import { basename, dirname } from "node:path";

/**
 * A program that an agent starts as an MCP server: passes its standard input and output on to the socket that its argument
 * names. It ends with its input, or when the socket is gone.
 */
const [path = ""] = process.argv.slice(2);
// The path itself may be longer than a socket's may be.
process.chdir(dirname(path));
const socket = connect({ path: `./${basename(path)}` });
process.stdin.pipe(socket);
socket.pipe(process.stdout);
process.stdout.on("error", () => process.exit());
socket.on("error", (error) => {
  process.stderr.write(`The run's tools cannot be reached: ${error.message}\n`);
  process.exitCode = 1;
});
socket.on("close", () => process.exit());
