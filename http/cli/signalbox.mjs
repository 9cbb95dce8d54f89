#!/usr/bin/env node
import { existsSync } from "node:fs";

/** The command `signalbox`, in the package and in a clone: runs what was bundled. Not compiled itself, so it is always there. */
const main = new URL("../../dist/bundle/programs/main.js", import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  console.error("nothing is built here: run npm ci && npm run build once, then this again");
  process.exitCode = 1;
}
