import t from "tap";
import type { Station } from "../../../../actors/lines/station.js";
import { candidateWarnings } from "../../../../actors/replays/candidates/replay-candidate.kind.js";
import { line } from "../../../support/work.js";

const [station] = line.stations;
if (station === undefined) throw new Error("the line has no station");
const judge = { rubric: "Good?", scale: "yes-no", passScore: null, claims: [], passShare: null, model: null } as const;
const live: Station = { ...station, check: "make test", judge: { ...judge, claims: [] } };

t.test("a candidate is warned of what it has otherwise than the live station and is easily forgotten", async (t) => {
  const forgotten = candidateWarnings({ ...live, check: null, judge: null }, live);
  const scored = "its copies are scored differently from the baseline's";
  t.same(forgotten, [
    {
      path: "station.check",
      message: `the live station has a check, this block does not: ${scored}`,
      severity: "warning",
    },
    {
      path: "station.judge",
      message: `the live station has a judge, this block does not: ${scored}`,
      severity: "warning",
    },
  ]);
  const listPaths = (block: Parameters<typeof candidateWarnings>[0]) =>
    candidateWarnings(block, live).map(({ path, message }) => `${path} ${message}`);
  t.same(listPaths({ ...live, check: "true", timeoutMinutes: 5 }), [
    `station.check differs from the live station's: ${scored}`,
    "station.timeoutMinutes differs from the live station's: its copies have a different time limit from the baseline's",
  ]);
  t.same(listPaths({ ...live, diffs: true, runners: { pool: "other", labels: [] } }), [
    "station.diffs differs from the live station's: its copies run and are scored the same, with a different fingerprint",
    "station.runners differs from the live station's: its copies may run on different runners from the baseline's",
  ]);
  t.match(candidateWarnings(live, { ...live, check: null }), [{ message: /^the live station has no check/ }]);
});

t.test("a candidate is not warned of what replays are for, nor of equal fields in another order", async (t) => {
  const other = { ...live, prompt: "Other words.", model: "m-2", skills: ["greet"], name: "Other" };
  t.same(candidateWarnings(other, live), []);
  const { rubric, ...rest } = { ...judge, claims: [] };
  t.same(candidateWarnings({ ...live, judge: { ...rest, rubric } }, live), []);
});
