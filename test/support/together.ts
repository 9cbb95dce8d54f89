import { once } from "node:events";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { leftBehind, picture } from "./left-behind.js";
import { type Mark, toMark } from "./shared-reading.js";
import { SharingRules } from "./sharing-rules.js";
import { loadUnhookedTap } from "./unhooked-tap.js";

/**
 * `together.js WORD FILE…` runs test files one after another in this process, which loads and compiles their modules
 * once. Empty tests whose names contain the word mark the start and end of each file in the output.
 *
 * A file ends when its tests have ended and everything that it started is closed. A file fails if it leaves something
 * behind, unless it has the process to itself. The process exits after the first file that fails, so that the file
 * cannot affect others.
 */
const [word = "", ...files] = process.argv.slice(2);
const rules = new SharingRules(resolve(import.meta.dirname, ".."));
const t = await loadUnhookedTap();
// Initialize both streams before the first file. Otherwise the first file would initialize them, and would seem to
// leave something behind.
t.pipe(process.stdout);
process.stderr.write("");

for (const [index, file] of files.entries()) {
  await mark("begins", index);
  const before = picture();
  await import(pathToFileURL(resolve(file)).href);
  while (!t.idle) await once(t, "idle");
  const left = rules.read(file) === "none" ? [] : await leftBehind(before);
  if (left.length > 0) t.fail("what a file begins it also ends", { left, at: null, stack: "" });
  // If a file adds a teardown to the root test, the root test ends, and no later file could add tests.
  const isEnded = t.results !== undefined && t.passing();
  if (isEnded) console.error("a file must set up and tear down in its tests, not in the root test");
  await mark("ends", index);
  if (isEnded || !t.passing()) process.exit(1);
}

/**
 * Writes a mark as an empty test. Tap writes all output that it has buffered before the mark. Resolves when the mark is
 * written.
 */
async function mark(what: Mark["what"], index: number): Promise<void> {
  const name = toMark({ word, what, index });
  // An error outside of tests ends the root test, so no more tests can follow.
  if (t.results !== undefined) {
    process.stdout.write(`# ${name}\n`);
    return;
  }
  const written = new Promise<void>((resolve) => {
    const look = (output: unknown) => {
      if (!String(output).includes(name)) return;
      t.off("data", look);
      resolve();
    };
    t.on("data", look);
  });
  await t.test(name, async () => undefined);
  await written;
}
