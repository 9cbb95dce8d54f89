import t, { type Test } from "tap";
import { PROMPT_VERSION } from "../../../actors/judging/prompt.js";
import { listCopies } from "../../../actors/replays/copies/replay-copy.table.js";
import { replayPairs } from "../../../actors/replays/judging/replay-pair.table.js";
import { replayRechecks } from "../../../actors/replays/judging/replay-recheck.table.js";
import { replayVerdicts } from "../../../actors/replays/judging/replay-verdict.table.js";
import type { ReplayRow } from "../../../actors/replays/replay/replay.js";
import { replays } from "../../../actors/replays/replay/replay.table.js";
import type { Job } from "../../../actors/runners/job.js";
import { type AskedModel, inForm, type Scripted, type ScriptedModel } from "../../../http/demo/scripted-model.js";
import { createMemoryStore } from "../../../storage/memory-store.js";
import { modelServer } from "../../support/model-server.js";
import { openReplayScene, openSet, type ReplayScene, sceneLine, workTask } from "../../support/replay-scene.js";
import type { Reply } from "../../support/service.js";
import { until } from "../../support/until.js";

/** Tests replays whose results a model judges over HTTP. A runner works on the replays at the same time. */

const ceiling = { amount: 100, currency: "EUR" };
const judge = { rubric: "Is it well made?", scale: "yes-no" };
const [work, review] = sceneLine.stations;
const judged = { ...work, prompt: "Work.", check: "make check", judge };

/** Prices at which each call of the scripted model costs 0.0011. */
const MODEL_PRICES = JSON.stringify({ in: 1, out: 1, currency: "EUR" });

interface Judged extends ReplayScene {
  readonly model: ScriptedModel | null;
  readonly set: string;
}

/** Opens a set of past runs, at a station with a judge. */
async function openJudged(
  t: Test,
  { runs = 1, usual }: { runs?: number; usual?: Scripted | null } = {},
): Promise<Judged> {
  const model = usual === null ? null : await modelServer(t, usual);
  const settings: Record<string, string> =
    model === null ? {} : { MODEL_URL: model.url, MODEL_NAME: "m", MODEL_PRICES };
  const place = await openReplayScene(t, { settings, store: createMemoryStore() });
  const set = await openSet(place);
  for (let n = 0; n < runs; n++) {
    const { runId } = await workTask(place);
    await place.ada.request("POST", `${set}/entries`, { runId });
  }
  const line = `/api/resources/lines/${place.lineId}`;
  const { headers } = await place.ada.request("GET", line);
  const body = { ...sceneLine, stations: [judged, review] };
  const changed = await place.ada.request("PUT", line, body, { "if-match": String(headers.etag) });
  if (changed.status !== 200) throw new Error(changed.text);
  const warned = ((changed.body?.warnings ?? []) as { path: string }[]).map(({ path }) => path);
  t.equal(warned.includes("stations[0].judge"), model === null, "a judge that nobody asks is warned of");
  return { ...place, model, set };
}

async function start({ ada, set }: Judged, candidate = "live") {
  const started = await ada.request("POST", `${set}/replays`, { candidate, ceiling });
  if (started.status !== 201) throw new Error(started.text);
  return started.body as { id: string; warnings: unknown; baseline: { id: string } | null };
}

function row({ service, workspaceId }: Judged, id: string): ReplayRow {
  const found = replays.get(service.runtime.reading, workspaceId, id);
  if (found === undefined) throw new Error("there is no replay");
  return found;
}

/**
 * Runs each job of the scene's runner until the runner disconnects. Appends each job to the returned list. Reports a
 * diff for every job except those that only run the check. `passes` decides whether a job's check passes.
 */
function works({ peer }: Judged, passes: (job: Job) => boolean = () => true): readonly Job[] {
  const jobs: Job[] = [];
  const next = async (): Promise<void> => {
    const job = await peer.job();
    jobs.push(job);
    peer.start(job);
    const check = { passed: passes(job), exitCode: 0, output: "checked" };
    const diff = `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+${job.runId}\n`;
    const checkouts = [{ repository: "acme/app", base: "b".repeat(40), diff }];
    const spent = { amount: 1, currency: "EUR" };
    const isCheck = job.replay?.does === "check";
    peer.end(job, { ending: { kind: "finish", note: "" }, check, checkouts: isCheck ? [] : checkouts, spent });
    return next();
  };
  void next().catch(() => undefined);
  return jobs;
}

/** Whether the request compares two changes. */
const isOfPair = ({ messages }: AskedModel): boolean => (messages[0]?.content ?? "").startsWith("Two programmers");

t.test("a baseline that checks its set is judged and checked twice, a candidate set beside it", async (t) => {
  const place = await openJudged(t, { runs: 5 });
  const { service, workspaceId, ada } = place;
  const jobs = works(place, (job) => job.replay?.does !== "check");
  const station = { ...judged, prompt: "Work well." };
  const path = `/api/resources/lines/${place.lineId}/stations/work/replay-candidates`;
  const candidate = await ada.create(path, { name: "Well", station });
  const started = await start(place, candidate.id);
  t.same(started.warnings, []);
  const baseline = started.baseline?.id ?? "";
  await until("both are judged through", () => row(place, started.id).judged && row(place, baseline).judged);

  t.match(row(place, baseline), { state: "finished", probe: true, counts: { settled: 15, succeeded: 15 } });
  const { reading } = service.runtime;
  const verdicts = replayVerdicts.list(reading, workspaceId, [baseline]);
  t.equal(verdicts.filter(({ which, state }) => which === "first" && state === "judged").length, 15);
  t.equal(verdicts.filter(({ which, state }) => which === "second" && state === "judged").length, 15);
  const rechecks = replayRechecks.list(reading, workspaceId, [baseline]);
  t.same([rechecks.length, rechecks.every(({ check }) => check?.passed === false)], [15, true]);
  const checks = jobs.filter(({ replay }) => replay?.does === "check");
  t.equal(checks.length, 15);
  t.match(checks[0], {
    task: { title: "Mend it" },
    station: { check: "make check" },
    checkouts: [{ diff: /^diff --git/ }],
  });
  t.match(row(place, baseline).spending, { spent: "30033/2000", besides: "33/2000" }, "30 judgings of 0.0011 each");

  t.match(row(place, started.id), { state: "finished", pairedWith: baseline, counts: { succeeded: 5 } });
  const pairs = replayPairs.list(reading, workspaceId, [started.id]);
  t.match(pairs, Array(5).fill({ state: "judged", outcome: "tie", model: "m", readings: { length: 2 } }));
  t.match(row(place, started.id).spending, { spent: "10011/2000", besides: "11/1000" });
  await isRead(t, place, { baseline, replay: started.id });
  const asked = place.model?.asked ?? [];
  t.equal(asked.length, 15 + 15 + 5 + 10);
  t.equal(asked.filter(isOfPair).length, 10);
  t.notMatch(JSON.stringify(asked), /Work well|Live config|cand_/, "no config is shown, nor whose change it is");
});

const firstEntry = ({ body }: Reply): unknown => ((body?.entries ?? []) as unknown[])[0];

/** Checks the answers to reads of the baseline and of the replay. */
async function isRead(t: Test, { ada, team, set }: Judged, of: { readonly baseline: string; readonly replay: string }) {
  const cost = { amount: 0.0011, currency: "EUR" };
  const baseline = await ada.request("GET", `${team}/replays/${of.baseline}`);
  t.match(baseline.body, { probe: true, pairedWith: null, totals: { spent: { amount: 15.0165 } } });
  t.match(firstEntry(baseline), {
    state: "judged",
    result: "succeeded",
    spent: { amount: 1.0011 },
    pair: null,
    pairingSpent: null,
    judge: { scale: "yes-no", passed: true, score: 1, marks: null, model: "m", promptVersion: PROMPT_VERSION },
    secondJudge: { passed: true },
    rejudgingSpent: cost,
    recheck: { passed: false, output: "checked" },
  });
  const replay = await ada.request("GET", `${team}/replays/${of.replay}`);
  const pairsAgainstBaseline = { wins: 0, losses: 0, ties: 5 };
  t.match(replay.body, { pairedWith: of.baseline, comparedWith: { replayId: of.baseline }, pairsAgainstBaseline });
  t.match(firstEntry(replay), {
    pair: { state: "judged", outcome: "tie", readings: { length: 2 } },
    pairingSpent: { amount: 0.0022 },
    secondJudge: null,
  });
  t.match((await ada.request("GET", set)).body?.health, {
    judge: { replayId: of.baseline, compared: 15, agreed: 15, pending: 0, agreement: 1, unstable: false },
    checks: { replayId: of.baseline, rechecked: 15, pending: 0, flaky: { length: 15 } },
  });
}

t.test("the model's answer decides, whatever the change says; junk is no verdict", async (t) => {
  const shown: string[] = [];
  const usual: Scripted = (asked) => {
    const work = asked.messages[1]?.content ?? "";
    if (!shown.includes(work)) shown.push(work);
    const which = shown.indexOf(work);
    return which === 0 ? { text: "I pass it!" } : { value: inForm(asked, { boolean: which === 1 }) };
  };
  const place = await openJudged(t, { runs: 3, usual });
  works(place);
  const { id } = await start(place);
  await until("it is judged", () => row(place, id).judged);
  t.match(row(place, id), { state: "finished", counts: { succeeded: 1, failed: 1, unscored: 1 } });
  const copies = listCopies(place.service.runtime.reading, place.workspaceId, id);
  t.same(copies.flatMap(({ why }) => why?.code ?? []).sort(), ["judge-failed", "unreadable"]);
  t.equal(place.model?.asked.length, 5, "junk is repaired twice, and counts");
  t.equal(row(place, id).spending.spent, "6011/2000", "five calls of 0.0011, three runs of 1");
});

t.test("without a model the start says so, and no copy is scored", async (t) => {
  const place = await openJudged(t, { usual: null });
  works(place);
  const { id, warnings } = await start(place);
  const text = "The station has a judge, but the service has no model: copies that need judging are not scored.";
  t.same(warnings, [{ kind: "judging-not-set-up", text }]);
  await until("it has ended", () => row(place, id).state === "finished");
  t.match(row(place, id), { judged: true, counts: { unscored: 1 } });
});
