import t, { type Test } from "tap";
import type { Tally } from "./generated-edits.js";
import { instanceLayouts } from "./instance-layouts.js";
import { editLayouts, type Layout } from "./layout.js";
import { lifecycleLayouts } from "./lifecycle-layouts.js";
import { ownOverrideLayouts } from "./override-layouts.js";
import { readerLayouts } from "./reader-layouts.js";
import { referenceLayouts } from "./reference-layouts.js";
import { mixedTeamLayouts, nullLayouts, otherTeamLayouts, teamLayouts } from "./team-layouts.js";

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

t.test("a null for a variable that is not nullable means its default", (t) => editAll(t, nullLayouts(), 1));
