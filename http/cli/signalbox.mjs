#!/usr/bin/env node
import { existsSync } from "node:fs";

/**
 * The command `signalbox`, in the package and in a clone: runs the bundled program. This file is not compiled, so it
 * always exists.
 */
const main = new URL("../../dist/bundle/programs/main.js", import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  console.error("nothing is built here: run npm ci && npm run build once, then this again");
  process.exitCode = 1;
}
