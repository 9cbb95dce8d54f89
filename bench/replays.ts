import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import { notJudging } from "../actors/judging/judging-setup.js";
import type { JudgeVerdict } from "../actors/judging/verdict.js";
import { findLiveFingerprints } from "../actors/replays/candidates/station-config.js";
import { readFigures, readSetTerms } from "../actors/replays/figures/replay-figures.js";
import { replayPairs } from "../actors/replays/judging/replay-pair.table.js";
import { replayVerdicts } from "../actors/replays/judging/replay-verdict.table.js";
import type { ReplayRow } from "../actors/replays/replay/replay.js";
import { replays } from "../actors/replays/replay/replay.table.js";
import { ReplayMemory } from "../actors/replays/replay/replay-memory.js";
import { replaySets } from "../actors/replays/sets/replay-set.table.js";
import { readHealth } from "../actors/replays/sets/set-health.queries.js";
import { type ReplayRead, readListedReplay, readReplay } from "../http/replays/replay-reading.js";
import { openLmdbStore } from "../storage/lmdb-store.js";
import type { Store } from "../storage/store.js";
import { type PicturedReplay, picturedReplay, putReplay, putSet, setRow } from "../test/support/pictured-replays.js";
import { memoryRows } from "../test/support/turn.js";
import { lineId, putLine, putTeam, workspaceId } from "../test/support/work.js";
import { percentile, printTable } from "./support/table.js";

const RUNS = 50;
const REPEATS = 5;
const LISTED = 20;
const READS = 60;
/** A signal that never aborts: no client disconnects here. */
const { signal } = new AbortController();
/** Reads before counting starts, so that the code is compiled. */
const WARM_UP = 20;

const set = setRow({ lineId, stationId: "sta_work" });
const live = { candidate: { id: "cand_live", name: "Live config", kind: "live" }, state: "finished" } as const;
const judging = notJudging;

/** Times of the measured reads, in milliseconds. */
interface Times {
  /** CPU time of a whole read. */
  readonly cpu: number[];
  /** Time between two pauses. */
  readonly slices: number[];
}

/** Measures reads of replays of 50 runs with 5 copies each, which have a baseline of the same size. */
export async function run(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  const store = await openLmdbStore({ folder });
  try {
    await fill(store);
    const memory = new ReplayMemory();
    const [plain, judged] = [await readBody(store, "rep_plain"), await readBody(store, "rep_judged")];
    printTable({
      title: `Reads of a replay of ${RUNS} runs with ${REPEATS} copies`,
      note: [
        "Beside a baseline of the same size; LMDB, a view each, the answer as JSON. Milliseconds of the processor. The first",
        "read computes the figures, a later one remembers them. A slice holds the loop.",
      ].join("\n"),
      columns: ["", "KB", "median", "p99", "slice median", "longest"],
      rows: [
        await measure("figures alone, first", store, async (read) => toFigures(fresh(read), "rep_plain")),
        await measure("a replay, first", store, (read) => readOne(fresh(read), "rep_plain")),
        await measure("a replay, again", store, (read) => readOne({ ...read, memory }, "rep_plain")),
        await measure("its JSON alone", store, async () => JSON.stringify(plain)),
        await measure("judged and paired, first", store, (read) => readOne(fresh(read), "rep_judged")),
        await measure("judged and paired, again", store, (read) => readOne({ ...read, memory }, "rep_judged")),
        await measure("its JSON alone", store, async () => JSON.stringify(judged)),
        await measure(`a list of ${LISTED}, again`, store, (read) => readList({ ...read, memory })),
        await measure("a set's health, first", store, async (read) => toHealth(fresh(read))),
        await measure("a set's health, again", store, async (read) => toHealth({ ...read, memory })),
      ],
    });
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}

function fresh(read: ReplayRead): ReplayRead {
  return { ...read, memory: new ReplayMemory() };
}

function toTerms({ view }: ReplayRead) {
  return readSetTerms(view, workspaceId, replaySets.get(view, workspaceId, set.id) ?? set, judging);
}

function toRow({ view }: ReplayRead, id: string): ReplayRow {
  const row = replays.get(view, workspaceId, id);
  if (row === undefined) throw new Error(`there is no replay ${id}`);
  return row;
}

function toFigures(read: ReplayRead, id: string) {
  return JSON.stringify(readFigures(read.view, toTerms(read), toRow(read, id), read.memory));
}

/** Reads a replay and returns the response body as an object. */
async function readBody(store: Store, id: string): Promise<unknown> {
  const view = store.view();
  const read = {
    view,
    latest: store.reading,
    pause: () => setImmediate(),
    signal,
    judging,
    memory: new ReplayMemory(),
    nowMs: 0,
  };
  const { body } = await readReplay(read, toTerms(read), toRow(read, id));
  view.close();
  return body;
}

async function readOne(read: ReplayRead, id: string) {
  return (await readReplay(read, toTerms(read), toRow(read, id))).json;
}

async function readList(read: ReplayRead) {
  const texts = [];
  for (const row of replays.all(read.view, workspaceId, { setId: set.id }, { limit: LISTED })) {
    texts.push(JSON.stringify(await readListedReplay(read, toTerms(read), row)));
  }
  return texts.join(",");
}

function toHealth({ view, ...terms }: ReplayRead) {
  return JSON.stringify(readHealth(view, workspaceId, set, terms));
}

async function measure(
  name: string,
  store: Store,
  answer: (read: ReplayRead) => Promise<string>,
): Promise<readonly (string | number)[]> {
  for (let n = 0; n < WARM_UP; n++) await once(store, answer, { cpu: [], slices: [] });
  const times: Times = { cpu: [], slices: [] };
  let bytes = 0;
  for (let n = 0; n < READS; n++) bytes = await once(store, answer, times);
  const inMs = (value: number) => value.toFixed(2);
  return [
    ...[name, Math.round(bytes / 1_024), inMs(percentile(times.cpu, 0.5)), inMs(percentile(times.cpu, 0.99))],
    ...[inMs(percentile(times.slices, 0.5)), inMs(Math.max(...times.slices))],
  ];
}

/** Reads once; returns the size of the answer in bytes. */
async function once(store: Store, answer: (read: ReplayRead) => Promise<string>, times: Times): Promise<number> {
  await setImmediate();
  const view = store.view();
  const begunCpu = cpuMs();
  let begun = performance.now();
  const endSlice = () => {
    times.slices.push(performance.now() - begun);
  };
  const pause = async () => {
    endSlice();
    await setImmediate();
    begun = performance.now();
  };
  const memory = new ReplayMemory();
  const text = await answer({ view, latest: store.reading, pause, signal, judging, memory, nowMs: 0 });
  endSlice();
  times.cpu.push(cpuMs() - begunCpu);
  view.close();
  return Buffer.byteLength(text);
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Writes a baseline and its candidates. One candidate is judged and compared in pairs with the baseline. */
async function fill(store: Store): Promise<void> {
  const rows = memoryRows();
  putLine(rows);
  putTeam(rows);
  putSet(rows, set, Object.keys(pictured(0)));
  const config = findLiveFingerprints(rows, workspaceId, set, judging);
  const base = { lineId, stationId: "sta_work" };
  putReplay(rows, picturedReplay(pictured(0), { id: "rep_live", ...base, ...live, ...config }));
  for (let n = 1; n <= LISTED; n++) {
    const id = `rep_list_${String(n).padStart(2, "0")}`;
    putReplay(rows, picturedReplay(pictured(n), { id, ...base, state: "finished", pairedWith: "rep_live" }));
  }
  const plain = picturedReplay(pictured(7), { id: "rep_plain", ...base, state: "finished", pairedWith: "rep_live" });
  putReplay(rows, plain);
  const judged = picturedReplay(pictured(8), { id: "rep_judged", ...base, state: "finished", pairedWith: "rep_live" });
  putReplay(rows, judged);
  putJudging(rows, judged);
  await store.commit(rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put", key, value }) as const));
}

/**
 * Returns the results of a replay's copies, by task. They vary by task and copy, but are the same in each run of the
 * benchmark.
 */
function pictured(seed: number): Readonly<Record<string, string>> {
  const findResult = (task: number, copy: number) => "+++-?"[(task * 7 + copy * 3 + seed * 5 + task * copy) % 5];
  const results = (task: number) => Array.from({ length: REPEATS }, (_, copy) => findResult(task, copy)).join("");
  return Object.fromEntries(
    Array.from({ length: RUNS }, (_, task) => [`t${String(task).padStart(2, "0")}`, results(task)]),
  );
}

const reasons = Array.from({ length: 4 }, () => ({ text: "It does what was asked for. ".repeat(15) }));

function putJudging(rows: ReturnType<typeof memoryRows>, { copies }: PicturedReplay): void {
  const spent = { calls: 1, cost: { amount: 0.01, currency: "EUR" }, isEstimate: false };
  const citations: JudgeVerdict["reasons"][number]["citations"] = [{ kind: "hunk", hunk: 1, step: null }];
  for (const { replayId, place, repeat } of copies) {
    const copy = { replayId, place, repeat };
    const verdict = {
      ...({
        scale: "yes-no",
        passed: true,
        score: 1,
        marks: null,
        model: "large",
        promptVersion: 1,
        cut: false,
      } as const),
      reasons: { brief: reasons.map(({ text }) => ({ text, claim: null, citations })), whole: null },
    };
    replayVerdicts.insert(rows, workspaceId, { ...copy, which: "first", state: "judged", verdict, none: null, spent });
    replayPairs.insert(rows, workspaceId, {
      ...copy,
      state: "judged",
      againstRunId: "run_x",
      outcome: "win",
      unpaired: null,
      model: "large",
      promptVersion: 1,
      spent,
      readings: [true, false].map((ownShownFirst) => ({
        ownShownFirst,
        outcome: "win" as const,
        reasons: {
          brief: reasons.slice(0, 2).map(({ text }) => ({ text, ownHunks: [1], theirHunks: [2] })),
          whole: null,
        },
      })),
    });
  }
}
