import t, { type Test } from "tap";
import { editIn, toStation, toTree, toWanted } from "../../../support/station-edit.js";
import { branchLayouts } from "./branch-layouts.js";
import { copyLayouts, writtenCallerLayouts } from "./copy-layouts.js";
import { dataLayouts } from "./data-layouts.js";
import { elsewhereLayouts } from "./elsewhere-layouts.js";
import { generatedCodeLayouts } from "./generated-code-layouts.js";
import type { Tally } from "./generated-edits.js";
import { harmlessLayouts } from "./harmless-layouts.js";
import { idleLayouts } from "./idle-layouts.js";
import { instanceLayouts } from "./instance-layouts.js";
import { editLayouts, type Layout, line } from "./layout.js";
import { lifecycleLayouts } from "./lifecycle-layouts.js";
import { lineBlockLayouts } from "./line-block-layouts.js";
import { manyFileLayouts } from "./many-file-layouts.js";
import { call, core, MADE } from "./module-layout.js";
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

/** Edits layouts. Checks that at least `leastEdited` edits succeed, and that at least `least` edits are refused. */
async function editAll(t: Test, layouts: readonly Layout[], least: number, leastEdited = least): Promise<void> {
  const tally: Tally = { edited: 0, refused: new Map(), wrong: [] };
  await editLayouts(layouts, tally);
  t.same(tally.wrong, []);
  const refused = [...tally.refused.values()].reduce((sum, times) => sum + times, 0);
  t.ok(tally.edited >= leastEdited && refused >= least, `${tally.edited} edited, ${refused} refused`);
}

t.test("a text file that another line reads is refused, in whatever form that line names it", (t) =>
  editAll(t, readerLayouts(), 40),
);

t.test("a line that its module makes more than once is refused, in whatever way it is made", (t) =>
  editAll(t, instanceLayouts(), 8),
);

t.test("a line is refused if an override file in its folder may change it", (t) => editAll(t, ownOverrideLayouts(), 4));

t.test("the line of another team is not found, wherever its team stands in the module", (t) =>
  editAll(t, teamLayouts(), 8),
);

t.test("a line that may be another team's is refused, and one that names no other team is edited", (t) =>
  editAll(t, mixedTeamLayouts(), 3),
);

t.test("a change that the line's lifecycle ignores is refused, and no other", (t) =>
  editAll(t, lifecycleLayouts(), 10),
);

t.test("a line is refused if its team's expression mentions only other teams", (t) =>
  editAll(t, otherTeamLayouts(), 25, 0),
);

t.test("a line whose stations another expression reads is refused", (t) => editAll(t, referenceLayouts(), 8));

t.test("a line is refused if other code reads its stations through a data source", (t) =>
  editAll(t, dataLayouts(), 10, 5),
);

t.test("a null for a variable that is not nullable means its default", (t) => editAll(t, nullLayouts(), 1));

t.test("a line is refused if code that a tool generates may change it, call its module or read its text file", (t) =>
  editAll(t, generatedCodeLayouts(), 40, 10),
);

t.test("a unit of Terragrunt gives the team with inputs, includes, arguments and values", (t) =>
  editAll(t, unitInputLayouts(), 40, 8),
);

t.test("a module that runs with several value files, backends or workspaces is refused", (t) =>
  editAll(t, runFileLayouts(), 15, 15),
);

t.test("a team is known only if types, orders, data sources and instances leave no other", (t) =>
  editAll(t, valueLayouts(), 60, 20),
);

t.test("code that cannot read the text file or create a second instance is no reason to refuse", (t) =>
  editAll(t, harmlessLayouts(), 40, 40),
);

t.test("a text file is refused if a computed variable, a template, a command or a tool may read it", (t) =>
  editAll(t, otherReaderLayouts(), 10, 2),
);

t.test("a line is refused if no run uses its module at the branch", (t) => editAll(t, idleLayouts(), 50, 20));

t.test("if the branch is unknown, main and master count as the branch", async (t) => {
  for (const [ref, code] of [
    ...[["v1", "not-proven"] as const, ["staging", "not-proven"] as const],
    ...[["main", null] as const, ["master", null] as const],
  ]) {
    const files = {
      [MADE]: line({ team: "var.team_id" }),
      "teams.tf": core,
      "main.tf": call("core", `git::https://code.example/acme/infra.git//modules/line?ref=${ref}`),
    };
    const wanted = toWanted(toStation({ model: "m" }), { model: "n" }, MADE);
    const outcome = await editIn(toTree(files), { ...wanted, repository: "acme/infra" });
    t.equal("refused" in outcome ? outcome.refused.code : null, code, ref);
  }
});

t.test("a line is refused if a tool runs its root module in several workspaces", (t) =>
  editAll(t, workspaceRunLayouts(), 35, 25),
);

t.test("a line is refused if commands or settings run its module in several workspaces or for another team", (t) =>
  editAll(t, runSettingLayouts(), 60, 40),
);

t.test("a line is refused if a tool runs its root module twice, for another team or at another branch", (t) =>
  editAll(t, toolRunLayouts(), 50, 40),
);

t.test("a line is refused if its source is generated or copied", (t) => editAll(t, sourceLayouts(), 25, 12));

t.test("a text file of a root module is edited, also if its path is relative", (t) =>
  editAll(t, relativeFileLayouts(), 10, 14),
);

t.test("a line is refused if a resource copies its text file or its folder", (t) => editAll(t, copyLayouts(), 30, 15));

t.test("a line is refused if a resource or a template writes a call of its module", (t) =>
  editAll(t, writtenCallerLayouts(), 30, 25),
);

t.test("a line is refused if a command applies its called module as a root module", (t) =>
  editAll(t, rootRunLayouts(), 18, 20),
);

t.test("a line is refused if a block removes it, a list of lines reads it, or two providers have its team", (t) =>
  editAll(t, lineBlockLayouts(), 20, 15),
);

t.test("a line is refused if runs use only another branch or a published version of its module", (t) =>
  editAll(t, branchLayouts(), 25, 20),
);

t.test("many files that cannot run the line's module are no reason to refuse", (t) =>
  editAll(t, manyFileLayouts(), 5, 4),
);

t.test("names, tags and commands on other machines read no file of the repository", (t) =>
  editAll(t, elsewhereLayouts(), 10, 20),
);
