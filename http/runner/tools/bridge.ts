import { pipeToSocket } from "./pipe-to-socket.js";

/** The program that an agent starts as an MCP server. Its argument is the path of a socket of the runner. */
const [path = ""] = process.argv.slice(2);
pipeToSocket(path);
