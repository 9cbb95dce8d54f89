import { branchLayouts } from "./branch-layouts.js";
import { copyLayouts, writtenCallerLayouts } from "./copy-layouts.js";
import { dataLayouts } from "./data-layouts.js";
import { elsewhereLayouts } from "./elsewhere-layouts.js";
import { generatedCodeLayouts } from "./generated-code-layouts.js";
import { editGenerated, type Tally } from "./generated-edits.js";
import { harmlessLayouts } from "./harmless-layouts.js";
import { idleLayouts } from "./idle-layouts.js";
import { instanceLayouts } from "./instance-layouts.js";
import { editLayouts } from "./layout.js";
import { lifecycleLayouts } from "./lifecycle-layouts.js";
import { lineBlockLayouts } from "./line-block-layouts.js";
import { manyFileLayouts } from "./many-file-layouts.js";
import { otherReaderLayouts } from "./other-reader-layouts.js";
import { ownOverrideLayouts } from "./override-layouts.js";
import { readerLayouts } from "./reader-layouts.js";
import { referenceLayouts } from "./reference-layouts.js";
import { relativeFileLayouts } from "./relative-layouts.js";
import { rootRunLayouts } from "./root-run-layouts.js";
import { runSettingLayouts } from "./run-setting-layouts.js";
import { sourceLayouts } from "./source-layouts.js";
import { mixedTeamLayouts, nullLayouts, otherTeamLayouts, teamLayouts } from "./team-layouts.js";
import { toolRunLayouts } from "./tool-run-layouts.js";
import { runFileLayouts, unitInputLayouts } from "./unit-layouts.js";
import { valueLayouts } from "./value-layouts.js";
import { workspaceRunLayouts } from "./workspace-layouts.js";

/**
 * `npm run edits [-- <workspaces> [<first seed>]]` edits generated workspaces, 500 by default, and prints the outcome.
 * It edits each workspace in three layouts. For every tenth workspace, it also edits the export, and makes an edit for
 * each single attribute. Finally, it edits the generated repository layouts. It exits with 1 if any edit is wrong.
 */
const [count = 500, first = 0] = process.argv.slice(2).map(Number);
const tally: Tally = { edited: 0, refused: new Map(), wrong: [] };
for (let seed = first; seed < first + count; seed += 1) await editGenerated(seed, seed % 10 === 0, tally);
const layouts = [
  ...readerLayouts(),
  ...instanceLayouts(),
  ...idleLayouts(),
  ...teamLayouts(),
  ...mixedTeamLayouts(),
  ...otherTeamLayouts(),
  ...ownOverrideLayouts(),
  ...lifecycleLayouts(),
  ...dataLayouts(),
  ...referenceLayouts(),
  ...nullLayouts(),
  ...generatedCodeLayouts(),
  ...unitInputLayouts(),
  ...runFileLayouts(),
  ...workspaceRunLayouts(),
  ...runSettingLayouts(),
  ...relativeFileLayouts(),
  ...toolRunLayouts(),
  ...sourceLayouts(),
  ...branchLayouts(),
  ...elsewhereLayouts(),
  ...manyFileLayouts(),
  ...copyLayouts(),
  ...lineBlockLayouts(),
  ...rootRunLayouts(),
  ...writtenCallerLayouts(),
  ...valueLayouts(),
  ...harmlessLayouts(),
  ...otherReaderLayouts(),
];
await editLayouts(layouts, tally);
const refused = [...tally.refused].map(([code, times]) => `${times} ${code}`).join(", ");
console.log(
  `${count} workspaces and ${layouts.length} layouts: ${tally.edited} edits exact, refused ${refused || "none"}; ${tally.wrong.length} wrong`,
);
for (const each of tally.wrong) console.log(each);
process.exit(tally.wrong.length > 0 ? 1 : 0);
