#!/usr/bin/env node
/**
 * The demo's runner: the usual runner program, with a pipe from the demo as its input. The pipe closes however the demo
 * ends. The runner then exits, together with everything that it runs.
 */
process.stdin.once("close", () => process.exit(1)).resume();
await import("../runner/main.js");
