import t from "tap";
import { editGenerated, type Tally } from "./generated-edits.js";

/** Number of generated workspaces to edit. By default, `npm run edits` edits 500. */
const WORKSPACES = 20;

t.test(
  "the exports of generated workspaces, as people lay them out, are edited exactly or refused as computed",
  async (t) => {
    const tally: Tally = { edited: 0, refused: new Map(), wrong: [] };
    for (let seed = 0; seed < WORKSPACES; seed += 1) await editGenerated(seed, seed % 10 === 0, tally);
    t.same(tally.wrong, []);
    t.ok(tally.edited > 3 * WORKSPACES, "most of them are edited");
    t.same([...tally.refused.keys()].sort(), ["changed-meanwhile", "computed"], "where nothing was to be changed, too");
  },
);
