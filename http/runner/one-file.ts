import { BRIDGE_FLAG, pipeToSocket } from "./tools/pipe-to-socket.js";

/**
 * The runner as one file, `runner.mjs`, which the service hands out (`GET /runner.mjs`). `bundle.mjs` builds it. It has no
 * files next to it, so agents start the same file as the bridge to their tools.
 */
const [first, path = ""] = process.argv.slice(2);
if (first === BRIDGE_FLAG) pipeToSocket(path);
else await import("./main.js");
