#!/usr/bin/env node
/**
 * The demo's runner: the program that runners are, whose input is a pipe of the demo. However the demo ends, the pipe ends
 * with it, and then the runner does, with all that it runs.
 */
process.stdin.once("close", () => process.exit(1)).resume();
await import("../runner/main.js");
