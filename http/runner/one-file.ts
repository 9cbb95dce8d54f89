import { BRIDGE_FLAG, pipeToSocket } from "./tools/pipe-to-socket.js";

/**
 * The runner as one file, `runner.mjs`, which the service offers for download (`GET /runner.mjs`). `bundle.mjs` builds
 * the file. No other files come with it, so agents start this same file as the bridge to their tools.
 */
const [first, path = ""] = process.argv.slice(2);
if (first === BRIDGE_FLAG) pipeToSocket(path);
else await import("./main.js");
