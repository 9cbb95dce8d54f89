#!/usr/bin/env node
/**
 * The demo's runner: the normal runner program, whose input is a pipe from the demo. However the demo ends, the pipe
 * closes, and the runner exits with everything that it runs.
 */
process.stdin.once("close", () => process.exit(1)).resume();
await import("../runner/main.js");
