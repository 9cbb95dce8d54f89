import { editGenerated, type Tally } from "./generated-edits.js";
import { instanceLayouts } from "./instance-layouts.js";
import { editLayouts } from "./layout.js";
import { lifecycleLayouts } from "./lifecycle-layouts.js";
import { ownOverrideLayouts } from "./override-layouts.js";
import { readerLayouts } from "./reader-layouts.js";
import { mixedTeamLayouts, otherTeamLayouts, teamLayouts } from "./team-layouts.js";

/**
 * Edits the exports of many generated workspaces, each in three layouts, each attribute alone in a tenth, and the generated
 * layouts of repositories, and prints the outcome: `npm run edits [-- <workspaces> [<first seed>]]`, 500 by default. Ends
 * with 1 when any edit is wrong.
 */
const [count = 500, first = 0] = process.argv.slice(2).map(Number);
const tally: Tally = { edited: 0, refused: new Map(), wrong: [] };
for (let seed = first; seed < first + count; seed += 1) await editGenerated(seed, seed % 10 === 0, tally);
const layouts = [
  ...readerLayouts(),
  ...instanceLayouts(),
  ...teamLayouts(),
  ...mixedTeamLayouts(),
  ...otherTeamLayouts(),
  ...ownOverrideLayouts(),
  ...lifecycleLayouts(),
];
await editLayouts(layouts, tally);
const refused = [...tally.refused].map(([code, times]) => `${times} ${code}`).join(", ");
console.log(
  `${count} workspaces and ${layouts.length} layouts: ${tally.edited} edits exact, refused ${refused || "none"}; ${tally.wrong.length} wrong`,
);
for (const each of tally.wrong) console.log(each);
process.exit(tally.wrong.length > 0 ? 1 : 0);
