import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import t from "tap";
import { createMachine } from "xstate";
import { listResources, resourceAddresses, resources } from "../../../actors/resources/resource.table.js";
import { dispatcherActor } from "../../../actors/runners/dispatcher.machine.js";
import { type DispatcherMessage, dispatcherRef } from "../../../actors/runners/dispatcher.messages.js";
import { durablePlacement, readPlacement, whyWaiting } from "../../../actors/runners/placement.queries.js";
import { lanes, listLines, listOldest, toLineKey } from "../../../actors/runners/run-queue.table.js";
import { claims, type QueuedRun, runners } from "../../../actors/runners/runner.table.js";
import type { RunnerPoolFields } from "../../../actors/runners/runner-pool.kind.js";
import { waitingReason } from "../../../actors/runners/waiting-reason.js";
import { workspaceRunners } from "../../../actors/runners/workspace-runners.kind.js";
import type { ActorType } from "../../../runtime/cells/actor-type.js";
import { readView } from "../../../runtime/rows/read-view.js";
import type { Change, Reading, Writing } from "../../../storage/store.js";
import { Harness, partition } from "../../support/harness.js";
import { type Note, probe } from "../../support/probe.js";
import { assignRuns, type PlacementState } from "./naive-placement.js";
import { claimRow, laneRow, line, rules, runnerRow } from "./placement-scene.js";

/** A workspace's rows that placement reads, and the workspace's queue. */
interface Rows extends PlacementState {
  readonly queue: readonly QueuedRun[];
}

/** A workspace's settings for its pools and limits. */
type Rules = Pick<PlacementState, "pools" | "defaultPoolId" | "maxRuns" | "besideWorkPercent">;

/** A message. With `fails`, the turn throws after all its changes. */
type Told = DispatcherMessage & { readonly fails?: boolean };

/** The dispatcher, except that some messages crash it after all its changes. */
const { config, states } = dispatcherActor.machine;
const failing = Object.entries(states.placing?.on ?? {}).map(([type, [transition]]) => {
  return [type, { actions: [...(transition?.actions ?? []), failOnPurpose] }];
});
const dispatcher: ActorType = {
  ...dispatcherActor,
  machine: createMachine({ ...config, states: { placing: { on: Object.fromEntries(failing) } } }),
  supervision: { attempts: 1, maxRestarts: 1_000, withinMs: 1_000, backoffMs: 1_000 },
};

function failOnPurpose({ event }: { readonly event: Told }): void {
  if (event.fails === true) throw new Error("on purpose");
}

const run = probe("run", { "run.claim": () => undefined });
/** Writes the rows that the workspace's actor writes when a pool or a limit changes. */
const workspace = probe("workspace", {
  rules: (_context, { rules }, turn) => putRules(turn, rules as Rules),
  idle: () => undefined,
});

function putRules(writing: Writing, { pools, defaultPoolId, maxRuns, besideWorkPercent }: Rules): void {
  const row = (kind: string, id: string, fields: Record<string, unknown>) => {
    resourceAddresses.put(writing, partition, [kind, id], id);
    resources.put(writing, partition, [kind, id], {
      id,
      kind,
      version: 1,
      workspaceId: partition,
      teamId: null,
      address: id,
      fields,
      hidden: {},
      added: {},
      createdAt: "",
      updatedAt: "",
    });
  };
  for (const { id, ...fields } of pools) row("runner-pool", id, { kind: "pull", ...fields });
  const defaultPool = pools.find(({ id }) => id === defaultPoolId)?.key ?? null;
  row("workspace-runners", "wr_1", { defaultPool, maxConcurrentRuns: maxRuns, replaySlotsPercent: besideWorkPercent });
}

function readRows(reading: Reading): Rows {
  const pools = listResources<RunnerPoolFields>(reading, partition, "runner-pool").map(({ id, fields }) => ({
    id,
    key: fields.key,
    labels: fields.labels,
    concurrency: fields.concurrency,
  }));
  const { defaultPool, maxConcurrentRuns, replaySlotsPercent } = workspaceRunners(reading, partition);
  return {
    runners: runners.list(reading, partition),
    claims: claims.list(reading, partition),
    pools,
    lanes: lanes.list(reading, partition),
    maxRuns: maxConcurrentRuns,
    besideWorkPercent: replaySlotsPercent ?? 50,
    defaultPoolId: pools.find(({ key }) => key === defaultPool)?.id ?? null,
    queue: listLines(reading, partition).flatMap((line) => listOldest(reading, partition, toLineKey(line), 1_000)),
  };
}

/** Returns the expected rows after a message, computed from scratch. */
function after(rows: Rows, told: Told): Rows {
  if (told.fails === true) return rows;
  const recorded = record(rows, told);
  const { assignments, state } = assignRuns(recorded.queue, recorded);
  const placed = new Set(assignments.map(({ run }) => run.runId));
  return { ...state, queue: recorded.queue.filter(({ runId }) => !placed.has(runId)) };
}

function record(rows: Rows, told: Told): Rows {
  switch (told.type) {
    case "run.queue":
      return { ...rows, queue: [...rows.queue, told.run] };
    case "run.unqueue":
      return withoutIdleLanes({ ...rows, queue: rows.queue.filter(({ runId }) => runId !== told.run.runId) });
    case "runner.offer":
      return { ...rows, runners: [...rows.runners.filter(isNot(told.runner.runnerId)), told.runner] };
    case "runner.forget":
      return { ...rows, runners: rows.runners.filter(isNot(told.runnerId)) };
    case "claim.release": {
      const left = rows.claims.filter((row) => row.runnerId !== told.runnerId || row.runId !== told.runId);
      return withoutIdleLanes({ ...rows, claims: left });
    }
    case "lane.limit": {
      const { lane, maxClaims } = told;
      const served = rows.lanes.find((row) => row.lane === lane)?.served ?? 0;
      const others = rows.lanes.filter((row) => row.lane !== lane);
      return withoutIdleLanes({ ...rows, lanes: [...others, { lane, maxClaims, served }] });
    }
    case "pools.changed":
      return rows;
  }
}

function isNot(runnerId: string) {
  return (row: { readonly runnerId: string }) => row.runnerId !== runnerId;
}

function withoutIdleLanes(rows: Rows): Rows {
  const used = new Set([...rows.queue, ...rows.claims].map(({ lane }) => lane));
  return { ...rows, lanes: rows.lanes.filter(({ lane, maxClaims }) => maxClaims !== null || used.has(lane)) };
}

/** Sorts rows to compare them. */
function sorted({ runners, claims, lanes, queue }: Rows) {
  const texts = (rows: readonly object[]) => rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();
  return { runners: texts(runners), claims: texts(claims), lanes: texts(lanes), queue: texts(queue) };
}

/**
 * An event that happens to a dispatcher. Its new runs get their ids, and items are picked from the rows, only when the
 * event happens.
 */
type Happening =
  | { readonly kind: "tell"; readonly told: readonly ((rows: Rows, n: number) => Told)[] }
  | { readonly kind: "rules"; readonly rules: Rules; readonly isTold: boolean }
  | { readonly kind: "elsewhere"; readonly changes: (rows: Rows) => readonly Change[] }
  | { readonly kind: "restart"; readonly isCrash: boolean }
  | { readonly kind: "idle" };

const pick = <Item>(items: readonly Item[], n: number): Item | undefined => items[n % Math.max(1, items.length)];

const message: fc.Arbitrary<(rows: Rows, n: number) => Told> = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: fc.tuple(line, fc.nat(9)).map(([line, age]) => queueing(line, age)) },
      { weight: 1, arbitrary: fc.nat(99).map(unqueueing) },
      { weight: 4, arbitrary: runnerRow.map((runner) => () => ({ type: "runner.offer" as const, runner })) },
      {
        weight: 1,
        arbitrary: runnerRow.map(({ runnerId }) => () => ({ type: "runner.forget" as const, runnerId })),
      },
      { weight: 3, arbitrary: fc.nat(99).map(releasing) },
      {
        weight: 1,
        arbitrary: laneRow.map(({ lane, maxClaims }) => () => ({ type: "lane.limit" as const, lane, maxClaims })),
      },
    ),
    fc.integer({ min: 0, max: 7 }),
  )
  .map(([told, chance]) => (rows: Rows, n: number) => ({ ...told(rows, n), fails: chance === 0 }));

function queueing(line: Omit<QueuedRun, "runId" | "queuedAtMs">, age: number) {
  return (_rows: Rows, n: number) => ({
    type: "run.queue" as const,
    run: { ...line, runId: `run_${String(n).padStart(4, "0")}`, queuedAtMs: Math.max(0, n - age) },
  });
}

function unqueueing(at: number) {
  const missing = { runId: "run_missing", queuedAtMs: 0, poolId: null, labels: [], harness: "command" };
  return ({ queue }: Rows) => ({ type: "run.unqueue" as const, run: pick(queue, at) ?? missing });
}

function releasing(at: number) {
  return ({ claims }: Rows) => {
    const { runnerId, runId } = pick(claims, at) ?? { runnerId: "runner_0", runId: "run_missing" };
    return { type: "claim.release" as const, runnerId, runId };
  };
}

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.array(message, { minLength: 1, maxLength: 4 }).map((told) => ({ kind: "tell" as const, told })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(rules, fc.boolean()).map(([rules, isTold]) => ({ kind: "rules" as const, rules, isTold })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(runnerRow, claimRow).map(([runner, claim]) => ({
      kind: "elsewhere" as const,
      changes: ({ runners: [first] }: Rows) => [
        { op: "put" as const, key: runners.key(partition, runner.runnerId), value: runner },
        { op: "put" as const, key: claims.key(partition, claim.runnerId, claim.runId), value: claim },
        ...(first === undefined || first.runnerId === runner.runnerId
          ? []
          : [{ op: "remove" as const, key: runners.key(partition, first.runnerId) }]),
      ],
    })),
  },
  { weight: 1, arbitrary: fc.boolean().map((isCrash) => ({ kind: "restart" as const, isCrash })) },
  { weight: 1, arbitrary: fc.constant({ kind: "idle" as const }) },
);

t.test(
  "whatever happens to a dispatcher, the rows are what reading them with each message makes them, and what reads hold says what is durable",
  async () => {
    await fc.assert(
      fc.asyncProperty(rules, fc.array(happening, { minLength: 20, maxLength: 30 }), async (rules, happenings) => {
        const world = await started(rules);
        for (const happening of happenings) {
          await happen(world, happening);
          checkReads(world);
          assert.deepStrictEqual(world.wrong, []);
        }
      }),
      { numRuns: 12 },
    );
  },
);

/** Maximum number of idle actors in memory: more than a test's runs, so that the dispatcher stays in memory. */
const IDLE_CELLS = 200;

interface World {
  readonly harness: Harness;
  /** Number of messages so far; runs get their ids from it. */
  queued: number;
  /** What reads returned, where it differs from the rows. */
  readonly wrong: unknown[];
}

async function started(rules: Rules): Promise<World> {
  const harness = new Harness({
    catalogue: { actors: [dispatcher, run, workspace] },
    limits: { idleCells: IDLE_CELLS },
  });
  await harness.start();
  await harness.ask(harness.to("workspace"), { type: "rules", rules } as Note);
  const world: World = { harness, queued: 0, wrong: [] };
  harness.onCommit = () => checkReads(world);
  return world;
}

/** Compares what reads return about placement with the rows that are durable at this moment. */
function checkReads({ harness, wrong }: World): void {
  const { reading } = harness.runtime;
  const built = readPlacement(harness.durable, partition);
  const held = readView(reading, durablePlacement, partition);
  if (!isDeepStrictEqual(held.describe(), built.describe())) wrong.push([held.describe(), built.describe()]);
  for (const run of readRows(harness.durable).queue) {
    const [told, wanted] = [whyWaiting(reading, partition, run), waitingReason(run, built)];
    if (told !== wanted) wrong.push([run, told, wanted]);
  }
}

async function happen(world: World, happening: Happening): Promise<void> {
  const { harness } = world;
  const rows = readRows(harness.durable);
  switch (happening.kind) {
    case "tell": {
      const told: Told[] = [];
      for (const make of happening.told) told.push(make(rows, world.queued++));
      await tell(harness, rows, told);
      return;
    }
    case "rules":
      await harness.ask(harness.to("workspace"), { type: "rules", rules: happening.rules } as Note);
      if (happening.isTold) await tell(harness, readRows(harness.durable), [{ type: "pools.changed" }]);
      return;
    case "elsewhere": {
      const changes = happening.changes(rows);
      // Do not check reads at this commit. The runtime learns about these rows only when `applied` is called below.
      const check = harness.onCommit;
      harness.onCommit = null;
      const committed = harness.disk.open().commit(changes);
      await harness.advance();
      await committed;
      harness.runtime.applied(changes);
      harness.onCommit = check;
      return;
    }
    case "restart":
      if (!happening.isCrash) {
        const stopped = harness.runtime.stop();
        await harness.advance();
        await stopped;
      }
      harness.crash();
      await harness.start();
      return;
    case "idle":
      await letGo(harness);
  }
}

/** Evicts the dispatcher from memory: sends messages to twice as many other actors as fit in memory. */
async function letGo(harness: Harness): Promise<void> {
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < IDLE_CELLS; n++) {
      void harness.runtime.ask(harness.to("workspace", `idle_${round}_${n}`), { type: "idle" });
    }
    await harness.advance();
  }
}

/** Sends messages at once, in this order. Then compares the rows with the rows that {@link after} computes. */
async function tell(harness: Harness, before: Rows, told: readonly Told[]): Promise<void> {
  const asked = told.map((message) =>
    harness.runtime.ask(dispatcherRef(partition), message).then(
      () => true,
      () => false,
    ),
  );
  await harness.advance();
  const taken = await Promise.all(asked);
  const expected = told.reduce(after, before);
  const found = { taken, ...sorted(readRows(harness.durable)) };
  const wanted = { taken: told.map(({ fails }) => fails !== true), ...sorted(expected) };
  assert.deepStrictEqual(found, wanted);
}
