import t from "tap";
import { toBody, toCommitMessage, toTitle } from "../../../actors/config-pull-requests/pull-request-text.js";
import { searchCandidateInputs, searchCandidates } from "../../../actors/searches/candidates/search-candidate.table.js";
import { findPickedConfig } from "../../../actors/searches/reads/picked-config.view.js";
import { searches, searchInputs } from "../../../actors/searches/search/search.table.js";
import type { Key, Range, Reading } from "../../../storage/store.js";
import { picturedSearch } from "../../support/pictured-searches.js";
import { replayConfig, replayInput } from "../../support/replay-rows.js";
import { teamId, workspaceId } from "../../support/work.js";

const canary = (what: string) => `canary-of-${what}`;
const [taskA, taskB] = [canary("task-a"), canary("task-b")];
const of = { searchId: "srch_1", candidateId: "cand_01" };

/** Opens a search whose config, tasks and runs are full of canaries. */
function open() {
  const { rows, search } = picturedSearch({
    seed: { [taskA]: "-", 1: "+", 2: "-", 3: "-", [taskB]: "-", 9: "+" },
    heldOut: `${taskB}9`,
    candidates: [
      {
        name: "careful",
        searched: { [taskA]: "+", 1: "-", 2: "+", 3: "+" },
        heldOut: { [taskB]: "+", 9: "+" },
        cost: 0.2,
        row: { hypothesis: "Look twice." },
      },
    ],
  });
  const judge = { rubric: canary("rubric"), claims: [canary("claim")], scale: "yes-no" as const, passScore: null };
  const secret = {
    ...replayConfig.station,
    prompt: canary("prompt"),
    check: canary("check"),
    judge: { ...judge, passShare: null, model: null },
  };
  const config = { ...replayConfig, station: secret };
  const input = searchInputs.get(rows, workspaceId, search.id);
  if (input === undefined) throw new Error("the search has no input");
  searchInputs.put(rows, workspaceId, input, { ...input, config });
  const wanted = { ...config, station: { ...secret, prompt: canary("wanted") } };
  const proposed = { ...of, config: wanted, block: replayInput().block, judgeModel: null };
  searchCandidateInputs.insert(rows, workspaceId, proposed);
  return { rows, search };
}

/** A reading that records the tables that its callers access. */
class WatchedReading implements Reading {
  readonly tables = new Set<string>();
  constructor(readonly inner: Reading) {}
  get<Value = unknown>(key: Key): Value | undefined {
    this.tables.add(String(key[2]));
    return this.inner.get<Value>(key);
  }
  range<Value = unknown>(range: Range) {
    this.tables.add("prefix" in range ? String(range.prefix[2]) : "any");
    return this.inner.range<Value>(range);
  }
}

t.test(
  "a picked candidate has both configs, and the figures of both sides on searched and held-out tasks",
  async (t) => {
    const { rows } = open();
    const picked = findPickedConfig(rows, workspaceId, of);
    t.match(picked, {
      was: { key: "work", prompt: canary("prompt") },
      wanted: { prompt: canary("wanted") },
      hypothesis: "Look twice.",
      changes: [{ part: "prompt", was: null, now: null }],
      evidence: {
        objective: "success",
        searched: {
          live: {
            success: { rate: 0.25 },
            scored: 4,
            tasks: 4,
            cost: { amount: 0.1, low: 0.1, high: 0.1, currency: "EUR" },
          },
          candidate: { success: { rate: 0.75 }, scored: 4, tasks: 4, cost: { amount: 0.2, low: 0.2, high: 0.2 } },
          gain: { gain: 0.5, tasks: 4, few: true },
          worse: { tasks: 1, of: 4 },
        },
        heldOut: {
          live: { success: { rate: 0.5 }, tasks: 2 },
          candidate: { success: { rate: 1 }, tasks: 2 },
          gain: { gain: 0.5 },
        },
        replays: { live: "rep_0", searched: "rep_1", heldOut: "held_1" },
      },
    });
  },
);

t.test(
  "its texts have none of the canaries, and nothing but the search and its candidates is read for them",
  async (t) => {
    const { rows } = open();
    const reading = new WatchedReading(rows);
    const picked = findPickedConfig(reading, workspaceId, of);
    if (picked === null) throw new Error("it is not found");
    const tables = [searches, searchInputs, searchCandidates, searchCandidateInputs].map(({ name }) => name);
    t.same([...reading.tables].sort(), tables.sort(), "no task, run, step, change, verdict, cause or person");
    const row = { teamId, searchId: of.searchId, candidateName: "careful", stationKey: "work" };
    const text = { row, lineKey: "dev", picked, baseUrl: "https://here.example" };
    const all = [toTitle(text), toBody(text), toCommitMessage(text)].join("\n");
    t.notMatch(all, /canary/);
    t.match(all, /n = 4 tasks/, "it is not empty");
  },
);

t.test("of a search that is gone, or a candidate that it does not have, nothing is known", async (t) => {
  const { rows, search } = open();
  t.equal(findPickedConfig(rows, workspaceId, { ...of, candidateId: "cand_02" }), null);
  searches.remove(rows, workspaceId, search);
  t.equal(findPickedConfig(rows, workspaceId, of), null);
});
