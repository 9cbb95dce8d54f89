import { fork } from "node:child_process";
import { hash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { Agent } from "undici";
import { setup } from "xstate";
import { createActorTypes } from "../actors/actor-types.js";
import { cachedTables } from "../actors/cached-tables.js";
import type { WorkEvent, WorkFact } from "../actors/events/catalogue.js";
import { CLOSE, OPEN } from "../actors/expressions/templates.js";
import { createCallbackToken } from "../actors/hooks/delivery/callback-token.js";
import { deliveryEffect, MAX_OUTPUT_BYTES } from "../actors/hooks/delivery/delivery.effects.js";
import { signMessage } from "../actors/hooks/delivery/delivery-request.js";
import { type HookOccurrence, hookOccurrences, storeEnded } from "../actors/hooks/hook-occurrence.table.js";
import { afterEventSubscriber } from "../actors/hooks/matching/fire-hooks.js";
import { createKinds } from "../actors/kinds.js";
import { parseAllowList } from "../actors/outbound/allow-list.js";
import { NetworkRequests } from "../actors/outbound/network-requests.js";
import { createOutbound } from "../actors/outbound/request.js";
import type { Kind } from "../actors/resources/kind.js";
import type { WriteResult } from "../actors/resources/resource.messages.js";
import { createSealer } from "../actors/sealer.js";
import type { PublishingWriting } from "../actors/tables/on-write.js";
import { openWorkspace } from "../actors/workspaces/open-workspace.js";
import { workspaceRef } from "../actors/workspaces/workspace.messages.js";
import type { ActorType } from "../runtime/actor-type.js";
import { address } from "../runtime/address.js";
import { createEventLoopScheduler, createSystemClock } from "../runtime/clock.js";
import { createRuntime } from "../runtime/host.js";
import type { Runtime } from "../runtime/runtime.js";
import type { Delivered, Message } from "../runtime/turn.js";
import type { Change, Key, Store } from "../storage/store.js";
import { EVENTS, type Figures, IN_FLIGHT, inFolder, measure, SECRET, workOf } from "./support/hook-events.js";
import { printTable } from "./support/table.js";

const ROUNDS = 5;
export type Put = Extract<Change, { op: "put" }>;

/** Publishes an event, as a task does. */
interface Happened extends Message {
  readonly type: "happened";
  readonly work: WorkEvent;
}

const source: ActorType = {
  kind: "source",
  version: 1,
  machine: setup({
    types: { events: {} as Delivered<Happened> },
    actions: {
      publish: ({ event }) => {
        const fact: WorkFact = { name: "task.moved", work: event.work };
        event.turn.publish(fact);
      },
    },
  }).createMachine({ initial: "on", states: { on: { on: { happened: { actions: "publish" } } } } }),
};

/** Hook deliveries a second, with and without the actors, in one run; see the printed note. */
export async function run(): Promise<void> {
  const receiver = fork(new URL("./support/receiver.js", import.meta.url));
  const [port] = (await once(receiver, "message")) as [number];
  const url = `http://127.0.0.1:${port}`;
  const sides = [withoutActors, withoutActorsAlike, withActors, withWrittenHook];
  const runs: Figures[][] = sides.map(() => []);
  // In turns, so that other load affects all of them alike.
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, side] of sides.entries()) runs[index]?.push(await inFolder((store) => side(store, url)));
  }
  receiver.disconnect();
  const [bare, alike, whole, written] = [median(runs[0]), median(runs[1]), median(runs[2]), median(runs[3])];
  const row = (name: string, figures: Figures) => [
    name,
    Math.round(figures.perSecond),
    figures.p50.toFixed(1),
    figures.p99.toFixed(1),
    Math.round(figures.cpuMicros),
    (figures.perSecond / bare.perSecond).toFixed(2),
    (figures.perSecond / alike.perSecond).toFixed(2),
  ];
  printTable({
    title: "Hook throughput",
    note:
      `From the event to delivered and recorded, ${IN_FLIGHT} in flight, ${EVENTS.toLocaleString("en-US")} events, the ` +
      `middle one of ${ROUNDS} rounds, one process serving and one receiving on loopback. All write the event durably, send a signed request, and write ` +
      "the result durably. The first does no more than that; the second sends the very request and writes the very " +
      "rows of history that Signalbox does, and leaves out what its actors and streams live by.",
    columns: ["", "events/s", "p50 ms", "p99 ms", "CPU us each", "to the least", "to the same"],
    rows: [
      row("LMDB and undici alone, the least", bare),
      row("LMDB and undici alone, the same request and rows", alike),
      row("Signalbox", whole),
      row("Signalbox, a condition and a written body on the hook", written),
    ],
  });
}

/** Shows `inspect` the values of each batch that is written for hooks without expressions, before it is committed. */
export async function inspectHookValues(inspect: (values: readonly Put[]) => void): Promise<void> {
  const receiver = fork(new URL("./support/receiver.js", import.meta.url));
  const [port] = (await once(receiver, "message")) as [number];
  await inFolder((store) => {
    const commit = (changes: readonly Change[]): Promise<void> => {
      inspect(changes.filter((change) => change.op === "put"));
      return store.commit(changes);
    };
    const inspected: Store = {
      ...{ reading: store.reading, commit, view: () => store.view() },
      ...{ backup: (folder) => store.backup(folder), close: () => store.close() },
    };
    return withActors(inspected, `http://127.0.0.1:${port}`);
  });
  receiver.disconnect();
}

/** The run with the median throughput. */
function median(runs: readonly Figures[] = []): Figures {
  const middle = [...runs].sort((left, right) => left.perSecond - right.perSecond)[Math.floor(runs.length / 2)];
  if (middle === undefined) throw new Error("nothing was measured");
  return middle;
}

async function withoutActors(store: Store, url: string): Promise<Figures> {
  const agent = new Agent({ connections: 64, pipelining: 1 });
  const figures = await measure(async (n) => {
    const work = workOf(n, "ws_1", "team_1");
    const { event, occurrence, on, task } = work;
    await store.commit([{ op: "put", key: ["ws_1", "row", "event", occurrence], value: work }]);
    const content = JSON.stringify({ hook: "bench", on, occurrence, event, task, run: null });
    const id = `msg_${n}`;
    const timestamp = Math.floor(Date.now() / 1_000);
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signMessage(SECRET, { id, timestamp, body: content }),
    };
    const signal = AbortSignal.timeout(10_000);
    const { statusCode, body } = await agent.request({
      ...{ origin: url, path: "/", method: "POST", headers, body: content, signal },
    });
    const answer = { status: statusCode, body: await body.text() };
    await store.commit([{ op: "put", key: ["ws_1", "row", "result", occurrence], value: answer }]);
  });
  await agent.destroy();
  return figures;
}

/** Like `withoutActors`, with the full request and the full record of a delivery by Signalbox. */
async function withoutActorsAlike(store: Store, url: string): Promise<Figures> {
  const outbound = createOutbound({ allowList: parseAllowList(url), maxBodyBytes: MAX_OUTPUT_BYTES });
  const sealer = createSealer(randomBytes(32), randomBytes);
  const figures = await measure(async (n) => {
    const work = workOf(n, "ws_1", "team_1");
    const { event, occurrence, on, task, workspaceId, teamId } = work;
    const id = `${occurrence}-bench`;
    const nowMs = Date.now();
    const at = new Date(nowMs).toISOString();
    const begun = new Changes();
    const firing: HookOccurrence = {
      id,
      hookId: "hook_1",
      hook: "bench",
      work,
      firedAt: at,
      state: "attempting",
      code: null,
      reason: null,
      refused: null,
      endedAt: null,
      retryAt: null,
      resends: null,
      resentAs: null,
    };
    hookOccurrences.insert(begun, workspaceId, firing);
    const change = hash("sha256", JSON.stringify(["hook_1", task.id, null, { ...event, at: "" }]), "base64url");
    begun.put([workspaceId, "row", "hook-change-fired", 1, task.id, change.slice(0, 22)], [nowMs]);
    await store.commit(begun.changes);
    const body = JSON.stringify({ hook: "bench", on, occurrence, event, task, run: null });
    const webhookId = `msg_${n}_tell`;
    const timestamp = Math.floor(nowMs / 1_000);
    const headers = {
      ...{ "content-type": "application/json", "user-agent": "Service-Hooks/1", "webhook-id": webhookId },
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signMessage(SECRET, { id: webhookId, timestamp, body }),
      ...{ "service-hook": "bench", "service-callback-url": "http://localhost/api/hook-callbacks" },
      "service-callback-token": createCallbackToken(sealer, { workspaceId, hookOccurrenceId: id, nowMs }),
    };
    const signal = new AbortController().signal;
    const answer = await outbound.post({ url: new URL(url), headers, body, timeoutMs: 10_000, signal });
    const requestHeaders = { ...headers, "webhook-signature": "(left out)", "service-callback-token": "(left out)" };
    const ended = new Changes();
    const tookMs = Date.now() - nowMs;
    const { status, body: text } = answer;
    storeEnded(
      ended,
      workspaceId,
      { teamId, id, hook: "bench", on, state: "attempting" },
      {
        ...{ state: "delivered", code: null, refused: null, endedAt: new Date().toISOString() },
        attempt: { n: 1, step: "tell", at, tookMs, requestHeaders, status, body: text, code: null, reason: null },
      },
    );
    await store.commit(ended.changes);
  });
  await outbound.close();
  return figures;
}

/** Rows to be committed together. */
class Changes implements PublishingWriting {
  readonly changes: Change[] = [];

  put(key: Key, value: unknown): void {
    this.changes.push({ op: "put", key, value });
  }

  remove(key: Key): void {
    this.changes.push({ op: "remove", key });
  }

  publishRow(): void {}

  get(): undefined {
    return undefined;
  }

  range(): [] {
    return [];
  }
}

/** The parts of a hook besides its address. */
interface Extras {
  readonly when: string | null;
  readonly body: unknown;
}

const plain: Extras = { when: null, body: null };

const withExpressions: Extras = {
  when: "task.line == 'notes' && event.to != event.from && !('draft' in task.marks)",
  body: {
    text: `Task ${OPEN} task.title ${CLOSE} moved to ${OPEN} event.to ${CLOSE}`,
    task: `${OPEN} task.id ${CLOSE}`,
    marks: `${OPEN} task.marks ${CLOSE}`,
  },
};

const withWrittenHook = (store: Store, url: string): Promise<Figures> => withActors(store, url, withExpressions);

async function withActors(store: Store, url: string, extras: Extras = plain): Promise<Figures> {
  const allowList = parseAllowList(url);
  const outbound = createOutbound({ allowList, maxBodyBytes: MAX_OUTPUT_BYTES });
  const kinds = createKinds({ allowList, signsTokens: false });
  const sealer = createSealer(randomBytes(32), randomBytes);
  const clock = createSystemClock();
  const runtime: Runtime = await createRuntime({
    store,
    catalogue: {
      actors: [...createActorTypes(kinds), source],
      subscribers: [afterEventSubscriber],
      gates: [],
      effects: [
        deliveryEffect({
          ...{
            reading: () => runtime.reading,
            outbound,
            network: new NetworkRequests(clock),
            sealer,
            clock,
            tokens: null,
            rotates: false,
          },
          ...{ baseUrl: () => "http://localhost", newId: (prefix) => runtime.newId(prefix) },
        }),
      ],
    },
    clock,
    scheduler: createEventLoopScheduler(),
    randomBytes,
    cachedTables,
    log: { warn: console.warn, error: console.error },
  });
  const { workspaceId, teamId } = await configure(runtime, kinds, { url, sealedSecret: sealer.seal(SECRET), extras });
  const waiting = new Map<string, () => void>();
  runtime.feed.listen(workspaceId, `team/${teamId}`, ({ data }) => {
    const { id, state } = data as { readonly id?: string; readonly state?: string };
    if (id === undefined || state !== "delivered") return;
    const occurrence = id.slice(0, id.indexOf("-"));
    waiting.get(occurrence)?.();
    waiting.delete(occurrence);
  });
  const figures = await measure(async (n) => {
    const work = workOf(n, workspaceId, teamId);
    const delivered = new Promise<void>((resolve) => waiting.set(work.occurrence, resolve));
    const message: Happened = { type: "happened", work };
    await runtime.ask(address(workspaceId, "source", String(n % 1_000)), message);
    await delivered;
  });
  await runtime.stop();
  await outbound.close();
  return figures;
}

/** A workspace with a team and one hook on `task.moved`. */
async function configure(
  runtime: Runtime,
  kinds: readonly Kind[],
  { url, sealedSecret, extras }: { readonly url: string; readonly sealedSecret: string; readonly extras: Extras },
) {
  let workspaceId = "";
  const caller = { kind: "person", userId: "usr_1", email: "bench@localhost", sessionId: "ses_1" } as const;
  // The edge passes fields to a workspace parsed, with every default filled in.
  const parsed = (name: string, fields: unknown) => kinds.find((kind) => kind.name === name)?.schema.parse(fields);
  const create = async (kind: string, teamId: string | null, fields: unknown, hidden: Record<string, string> = {}) => {
    const wanted = {
      ...{ kind, caller, client: null, teamId, fields: parsed(kind, fields), hidden },
      idempotency: { scope: "bench", key: kind, digest: "" },
    };
    if (kind === "workspace") return (await openWorkspace(runtime, wanted)) as WriteResult;
    const asked: unknown = await runtime.ask(workspaceRef(workspaceId), { ...wanted, type: "resource.create" });
    return asked as WriteResult;
  };
  workspaceId = (await create("workspace", null, { slug: "bench", name: "Bench" })).resource.id;
  const team = await create("team", null, { key: "core", name: "Core" });
  const hook = {
    ...{ key: "bench", on: "task.moved", when: extras.when, vars: {}, failure: "continue", timeoutSeconds: 10 },
    match: { tools: [], lines: [], stations: [], repositories: [], paths: [] },
    steps: [{ name: "tell", request: { url, headers: {}, body: extras.body, from: "service" } }],
    signing: { secretVersion: 1 },
  };
  await create("hook", team.resource.id, hook, { "signing.secret": sealedSecret });
  return { workspaceId, teamId: team.resource.id };
}
