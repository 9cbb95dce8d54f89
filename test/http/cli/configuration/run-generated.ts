import { openCommandScene } from "../../../support/command-cases.js";
import { applyExport, editExport, type Tally } from "./generated-edits.js";
import { generatedSettings } from "./generated-workspace.js";

/**
 * `npm run configurations [-- <workspaces> [<first seed>]]` generates workspaces, 500 by default. It applies the export
 * of each workspace, and then an edited copy of each export. Prints the outcome, and exits with 1 if a check fails.
 */
const [count = 500, first = 0] = process.argv.slice(2).map(Number);
/** How many seeds share one service. */
const TOGETHER = 25;
const tally: Tally = { unchanged: 0, edited: 0, edits: new Map(), wrong: [] };
for (let start = first; start < first + count; start += TOGETHER) {
  const cleaners: (() => Promise<unknown>)[] = [];
  const scene = await openCommandScene({ teardown: (clean) => cleaners.push(clean) }, generatedSettings);
  for (let seed = start; seed < Math.min(start + TOGETHER, first + count); seed += 1) {
    await applyExport(scene, seed, tally);
    await editExport(scene, seed, tally);
  }
  for (const clean of cleaners.reverse()) await clean();
}
const edits = [...tally.edits].map(([name, times]) => `${times} ${name}`).join(", ");
console.log(
  `${count} workspaces: ${tally.unchanged} exports changed nothing and made the same workspace elsewhere, ` +
    `${tally.edited} edited exports were planned and applied exactly (${edits}); ${tally.wrong.length} wrong`,
);
for (const each of tally.wrong) console.log(each);
process.exit(tally.wrong.length > 0 ? 1 : 0);
