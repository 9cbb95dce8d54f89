import t from "tap";
import {
  type CheckedTwice,
  type HealthReplay,
  type HealthSources,
  listNamed,
  measureHealth,
} from "../../../../actors/replays/figures/set-health.js";
import type { Copy } from "../../../../actors/statistics/copy.js";
import type { TwoLooks } from "../../../../actors/statistics/second-looks.js";
import { listCopies, listTasks } from "../../statistics/copies.js";

interface Replay extends HealthReplay {
  readonly copies: readonly Copy[];
  readonly covers: boolean;
  readonly judgings: readonly TwoLooks[] | null;
  readonly checks: readonly CheckedTwice[] | null;
}

const measuredAt = "2026-01-02T00:00:00.000Z";

function replay(id: string, given: Partial<Replay> = {}): Replay {
  return {
    id,
    candidate: { id: "live", kind: "live" },
    fingerprint: "f",
    state: "finished",
    repeats: 1,
    endedAt: measuredAt,
    answers: null,
    search: null,
    copies: [],
    covers: true,
    judgings: null,
    checks: null,
    ...given,
  };
}

function toHealth(ofLiveConfig: readonly Replay[], given: Partial<HealthSources<Replay>> = {}) {
  return measureHealth<Replay>({
    ofLiveConfig,
    check: undefined,
    minGain: 0.05,
    find: (id) => ofLiveConfig.find((one) => one.id === id),
    coversSet: ({ covers }) => covers,
    copiesOf: ({ copies }) => copies,
    secondLooksOf: ({ judgings, checks }) => ({ judgings, checks }),
    ...given,
  });
}

const nothing = { noise: null, saturation: null, judge: null, checks: null, oracle: null };

t.test("nothing is measured before a replay of the live config has finished", async (t) => {
  t.same(toHealth([]), nothing);
  t.same(toHealth([replay("rep_1", { state: "running", repeats: 3, copies: listTasks(6, "+++") })]), nothing);
  t.same(toHealth([replay("rep_1", { state: "over-budget", repeats: 3, copies: listTasks(6, "+++") })]), nothing);
});

t.test("noise is of the newest one that copied each run more than once", async (t) => {
  const noisy = replay("rep_1", { repeats: 2, copies: listCopies({ a: "+-", b: "++" }), fingerprint: "one" });
  const older = replay("rep_0", { repeats: 2, copies: listTasks(6, "++") });
  const { noise } = toHealth([replay("rep_2", { copies: listTasks(6, "+") }), noisy, older]);
  t.same(noise, {
    replayId: "rep_1",
    fingerprint: "one",
    repeats: 2,
    perRepeat: [1, 0.5],
    spread: 0.5,
    flippedTasks: ["a"],
    noisyInOneCopy: true,
    neededRepeats: 100,
    suggestedRepeats: 5,
    measuredAt,
    tasks: 2,
    few: true,
  });
});

t.test("saturation is of the newest one over the whole set that no search started", async (t) => {
  const searched = replay("rep_4", { search: { searchId: "s" }, copies: listTasks(6, "-") });
  const partial = replay("rep_3", { covers: false, copies: listTasks(6, "-") });
  const whole = replay("rep_2", { copies: listTasks(6, "+") });
  const { saturation, noise } = toHealth([searched, partial, whole]);
  t.same(saturation, {
    replayId: "rep_2",
    rate: 1,
    interval: { rate: 1, low: 1, high: 1 },
    saturated: true,
    measuredAt,
    tasks: 6,
    few: false,
  });
  t.equal(noise, null, "each run was copied once");
  const mixed = listCopies({ ...Object.fromEntries([..."abcdefghijklmnopqrs"].map((task) => [task, "+"])), t: "-" });
  t.match(
    toHealth([replay("rep_1", { copies: mixed })]).saturation,
    { rate: 0.95, saturated: false },
    "not above 0.95",
  );
});

t.test("judge and checks are of the newest finished check, whatever the live config is now", async (t) => {
  const agree: TwoLooks = { first: "passed", second: "passed" };
  const differ: TwoLooks = { first: "failed", second: "passed" };
  const at = { taskId: "a", originalRunId: "run_1", runId: "run_2" };
  const check = replay("rep_1", {
    judgings: [agree, agree, differ, { first: "passed", second: "pending" }],
    checks: [
      { ...at, ...agree },
      { ...at, ...differ },
    ],
  });
  t.same(toHealth([], { check }), {
    ...nothing,
    judge: { replayId: "rep_1", compared: 3, agreed: 2, pending: 1, agreement: 2 / 3, unstable: true },
    checks: { replayId: "rep_1", rechecked: 2, pending: 0, flaky: [{ ...at, ...differ }] },
  });
  t.same(toHealth([], { check: replay("rep_1") }), nothing, "it asked for neither");
});

t.test("the oracle compares the live config with itself given the answer, on the runs that have one", async (t) => {
  const live = replay("rep_1", { copies: [...listTasks(6, "-"), ...listTasks(2, "+", "u")] });
  const candidate = { id: "cand_1", kind: "with-answer" };
  const answer = replay("rep_2", { candidate, answers: "rep_1", copies: listTasks(6, "+"), repeats: 1 });
  const shared = {
    replayId: "rep_2",
    candidateId: "cand_1",
    repeats: 1,
    againstReplayId: "rep_1",
    answered: 6,
  };
  const { oracle } = toHealth([answer, live]);
  t.match(oracle, { ...shared, state: "finished", againstState: "finished", live: 0, withAnswer: 1 });
  t.match(oracle, { gain: { gain: 1, verdict: "better", tasks: 6, few: false }, roomToImprove: true });

  const unknown = { live: null, withAnswer: null, gain: null, roomToImprove: null };
  t.match(toHealth([{ ...answer, state: "running" }, live]).oracle, { ...shared, state: "running", ...unknown });
  t.match(toHealth([answer]).oracle, { ...shared, againstState: "gone", ...unknown });
  t.match(toHealth([answer, { ...live, state: "stopped" }]).oracle, { ...shared, againstState: "stopped", ...unknown });

  const few = { ...answer, copies: listTasks(4, "+") };
  t.match(toHealth([few, live]).oracle, { answered: 4, gain: { few: true }, roomToImprove: null });
  const same = { ...answer, copies: listTasks(6, "-") };
  t.match(toHealth([same, live]).oracle, { roomToImprove: false });
});

t.test("a set's health names the replays that it is read from, each once", async (t) => {
  const names = (ofLiveConfig: readonly Replay[], check?: Replay) =>
    listNamed({
      ofLiveConfig,
      check,
      find: (id: string) => ofLiveConfig.find((one) => one.id === id),
      coversSet: ({ covers }) => covers,
    }).map(({ id }) => id);
  const answer = { candidate: { id: "cand_1", kind: "with-answer" }, answers: "rep_1" };
  const older = replay("rep_1", { repeats: 3 });
  t.same(names([replay("rep_4", { search: {} }), replay("rep_3", answer), replay("rep_2"), older]), [
    ...["rep_1", "rep_2", "rep_3"],
  ]);
  t.same(names([older], older), ["rep_1"]);
  t.same(names([], older), ["rep_1"]);
  t.same(names([replay("rep_5", { state: "running" })]), []);
});
