import t from "tap";
import { toReplayTerms } from "../../../actors/runs/replay-terms.js";
import { getRunInput, runInputs } from "../../../actors/runs/run-input.table.js";
import { SteppedWork } from "../../support/stepped-work.js";
import { workspaceId } from "../../support/work.js";

const repository = (name: string, setup: string | null) => ({ name, setup, image: null });
const config = (check: string | null, ...setups: (string | null)[]) => ({
  station: { check },
  repositories: setups.map((setup, index) => repository(`acme/${index}`, setup)),
});

t.test("setup and check get secrets where they are equal, byte by byte, to the live ones", async (t) => {
  const live = config("npm test", "npm ci", "make", null);
  const secretsFor = (candidate: ReturnType<typeof config>) => toReplayTerms("repeat", candidate, live).secretsFor;
  t.same(secretsFor(live), { check: true, setup: ["acme/0", "acme/1"] });
  t.same(secretsFor(config("npm test ", "npm ci\n", "make", "make")), { check: false, setup: ["acme/1"] });
  t.same(secretsFor(config(null, "make", "npm ci")), { check: false, setup: [] }, "of another repository");
  const added = { ...live, repositories: [repository("acme/9", "npm ci"), ...live.repositories] };
  t.same(secretsFor(added), { check: true, setup: ["acme/0", "acme/1"] }, "of one that the live line has not");
  t.same(toReplayTerms("repeat", live, config(null)).secretsFor, { check: false, setup: [] });
});

/** Returns the job of a run at a station with a profile and a secret, under these terms. */
function jobUnder(terms: ReturnType<typeof toReplayTerms>) {
  const work = new SteppedWork();
  work.claim();
  const input = getRunInput(work.rows, workspaceId, work.runId);
  const { beginning } = input;
  if (beginning === null) throw new Error("a run without its beginning");
  runInputs.put(work.rows, workspaceId, input, { ...input, beginning: { ...beginning, replay: terms } });
  return work.job();
}

t.test("the job of a replay says what it does, and holds secrets only for what gets them", async (t) => {
  const none = { check: false, setup: [] };
  const agent = jobUnder({ does: "repeat", secretsFor: none });
  t.match(agent, { replay: { does: "repeat", secretsFor: none }, harness: { secrets: { TOKEN: "opened one" } } });
  const check = jobUnder({ does: "check", secretsFor: none });
  t.same([check?.replay?.does, check?.harness.secrets], ["check", {}]);
  for (const secretsFor of [
    { check: true, setup: [] },
    { check: false, setup: ["acme/app"] },
  ]) {
    t.same(jobUnder({ does: "check", secretsFor })?.harness.secrets, { TOKEN: "opened one" });
  }
});
