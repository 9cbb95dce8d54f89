#!/usr/bin/env node
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { toTerminalSvg } from "./terminal-svg.js";

/**
 * `npm run record` runs the short demo and writes an image of its output for the README. The image shows:
 *
 * - the lines about one task that review sends back
 * - a refused handover
 * - an issue with its pull request
 * - the summary
 */
const SHOWN = [
  /^(task|step|move) +Fencing tokens/,
  /^step .* refused\. Reason:/,
  /^hook .*: refused$/,
  /^demo +.*(tasks done|hook firings|refused by)/,
  /^issue /,
  /^pull +(its|ada|the code host)/,
  /^demo +done/,
];

const program = fileURLToPath(new URL("main.js", import.meta.url));
// Run the demo outside a checkout, so that it creates a small repository.
const out = execFileSync(process.execPath, [program, "--short", "--exit"], { cwd: tmpdir(), encoding: "utf8" });
const lines = out.split("\n").filter((line) => SHOWN.some((pattern) => pattern.test(line)));
writeFileSync("docs/pictures/demo.svg", toTerminalSvg("npm run demo -- --short --exit", lines));
