import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { cachedTables, createActorTypes, createKinds } from "../actors/catalogue.js";
import { evaluationEffect } from "../actors/integration-work/deliveries/delivery-evaluation.effects.js";
import { pollRef } from "../actors/integration-work/polls/poll.messages.js";
import { integrationSchema } from "../actors/integrations/definition.js";
import { polls } from "../actors/integrations/poll.table.js";
import { integrationRequestEffect } from "../actors/integrations/requests/integration-request.effects.js";
import { parseAllowList } from "../actors/outbound/http/allow-list.js";
import { type ResourceRow, resources } from "../actors/resources/resource.table.js";
import { createSealer } from "../actors/sealer.js";
import { type Clock, createEventLoopScheduler, createSystemClock } from "../runtime/clock.js";
import { createRuntime } from "../runtime/host.js";
import type { Runtime } from "../runtime/runtime.js";
import { LoopRounds } from "../runtime/schedule/loop-rounds.js";
import { openLmdbStore } from "../storage/lmdb-store.js";
import type { Change, Store } from "../storage/store.js";
import { printTable } from "./support/table.js";

const WORKSPACES = 100;
const POLLS_EACH = 100;
const ALL = WORKSPACES * POLLS_EACH;
const EVERY_MINUTES = 60;
const IDLE_MS = 5_000;
const AT_ONCE = 200;
/** After this time all polls are due again. */
const AHEAD_MS = (EVERY_MINUTES + 2) * 60_000;
/** The length of a scheduling round in milliseconds, as in a service without other active clients. */
const ROUND_MS = 4;
/** Response time of every host, in milliseconds. */
const HOST_MS = 5;
const items = Array.from({ length: 20 }, (_, n) => ({ id: n, title: `Item ${n}`, text: "x".repeat(80) }));
const answer = Buffer.from(JSON.stringify({ items, next: "20" }));

const expression = (cel: string) => ["$", `{{ ${cel} }}`].join("");

/**
 * Measures the longest round of the event loop in three cases: 10,000 polls fall due within one minute, all of them are
 * overdue at startup, and the loop is idle. The hosts are simulated in memory. Everything else is real, including the
 * delivery of a poll whose events match nothing.
 */
export async function run(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-"));
  const store = await openLmdbStore({ folder });
  try {
    await store.commit(integrations());
    const first = await start(store, 0);
    const idle = await watchLoop(() => pause(IDLE_MS));
    const minute = await watchLoop(async () => {
      const sinceMs = first.clock.now();
      await beginAll(first);
      await untilAsked(first, sinceMs);
    });
    await first.stop();
    // Read the time first: the runtime may start polls before its own clock can be read.
    const sinceMs = Date.now() + AHEAD_MS;
    const second = await start(store, AHEAD_MS);
    const overdue = await watchLoop(() => untilAsked(second, sinceMs));
    await second.stop();
    print({ idle, minute, overdue });
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}

/** The duration of some work, and the delay of a 1 ms timer during this work, in milliseconds. */
interface Lateness {
  readonly tookMs: number;
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}

async function watchLoop(work: () => Promise<unknown>): Promise<Lateness> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  const begunMs = performance.now();
  delays.enable();
  await work();
  delays.disable();
  const read = (share: number) => delays.percentile(share) / 1e6;
  return { tookMs: performance.now() - begunMs, p50: read(50), p99: read(99), longest: delays.max / 1e6 };
}

function* each(): Generator<{ readonly workspaceId: string; readonly id: string }> {
  for (let n = 0; n < ALL; n++) yield { workspaceId: `ws_${n % WORKSPACES}`, id: `int_${n}` };
}

function integrations(): Change[] {
  const poll = {
    everyMinutes: EVERY_MINUTES,
    request: { url: "https://api.example.com/items", query: { since: expression("cursor") } },
    cursor: expression("body.next"),
    events: [
      { forEach: expression("body.items"), when: expression("item.id > 100"), raise: { say: expression("item.text") } },
    ],
  };
  const fields = integrationSchema.parse({ integration: "feed", name: "Feed", hosts: ["api.example.com"], poll });
  const row = (workspaceId: string, kind: string, id: string, read: Partial<ResourceRow>): Change => {
    const value = {
      id,
      kind,
      version: 1,
      workspaceId,
      teamId: null,
      address: id,
      fields: {},
      hidden: {},
      added: {},
      ...read,
    };
    return { op: "put", key: resources.key(workspaceId, kind, id), value: { ...value, createdAt: "", updatedAt: "" } };
  };
  const workspaces = Array.from({ length: WORKSPACES }, (_, n) => row(`ws_${n}`, "workspace", `ws_${n}`, {}));
  const all = [...each()].map(({ workspaceId, id }) =>
    row(workspaceId, "integration", id, { teamId: "team_1", fields }),
  );
  return [...workspaces, ...all];
}

async function start(store: Store, aheadMs: number): Promise<Runtime> {
  const system = createSystemClock();
  const clock: Clock = {
    now: () => system.now() + aheadMs,
    at: (dueMs, alarm) => system.at(dueMs - aheadMs, alarm),
  };
  const elapsedMs = () => performance.now();
  const scheduler = new LoopRounds({ loop: createEventLoopScheduler(), elapsedMs, roundMs: () => ROUND_MS });
  const sealer = createSealer(new Uint8Array(32), randomBytes);
  const send = async () => {
    await pause(HOST_MS);
    return { status: 200, headers: { "content-type": "application/json" }, bytes: answer };
  };
  const reading = () => runtime.reading;
  const parts = {
    reading,
    clock,
    scheduler,
    sealer,
    log: console,
    baseUrl: () => "http://localhost",
    outbound: { send },
  };
  const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
  const runtime: Runtime = await createRuntime({
    store,
    clock,
    scheduler,
    randomBytes,
    log: console,
    cachedTables,
    elapsedMs,
    catalogue: {
      actors: createActorTypes(kinds),
      subscribers: [],
      gates: [],
      effects: [integrationRequestEffect(parts), evaluationEffect(parts)],
    },
  });
  return runtime;
}

/** Starts every poll, several at a time. */
async function beginAll(runtime: Runtime): Promise<void> {
  const polled = [...each()];
  for (let from = 0; from < polled.length; from += AT_ONCE) {
    const some = polled.slice(from, from + AT_ONCE);
    await Promise.all(some.map(({ workspaceId, id }) => runtime.ask(pollRef(workspaceId, id), { type: "poll.check" })));
  }
}

/** Resolves when every poll has succeeded since the time `sinceMs`. Throws if a poll fails. */
async function untilAsked({ reading }: Runtime, sinceMs: number): Promise<void> {
  const left = new Set(each());
  while (left.size > 0) {
    await pause(250);
    // Check a few at a time, so that the check does not block the loop itself.
    let looks = 0;
    for (const poll of left) {
      const row = polls.get(reading, poll.workspaceId, poll.id);
      if (row?.state !== "resting" || row.failures > 0 || row.lastAt === null || Date.parse(row.lastAt) < sinceMs) {
        if (row?.failures) throw new Error(`a poll failed: ${row.problem?.reason}`);
        break;
      }
      left.delete(poll);
      if (++looks % 100 === 0) await pause(0);
    }
  }
}

function print(figures: Readonly<Record<"idle" | "minute" | "overdue", Lateness>>): void {
  printTable({
    title: "Polls",
    note:
      `${ALL.toLocaleString("en-US")} polls of ${WORKSPACES} workspaces; hosts in memory answer ${answer.length} bytes ` +
      `in ${HOST_MS} ms. How late a timer of a millisecond came.`,
    columns: ["what", "took s", "p50 ms", "p99 ms", "longest ms", "of idle's longest"],
    rows: Object.entries(figures).map(([what, { tookMs, p50, p99, longest }]) => [
      ...[what, (tookMs / 1_000).toFixed(1), p50.toFixed(1), p99.toFixed(1), longest.toFixed(1)],
      (longest / figures.idle.longest).toFixed(1),
    ]),
  });
}
