import { randomBytes } from "node:crypto";
import { setup } from "xstate";
import { cachedTables, createActorTypes, createKinds } from "../../actors/catalogue.js";
import type { WorkEvent, WorkFact } from "../../actors/events/catalogue.js";
import { CLOSE, OPEN } from "../../actors/expressions/templates.js";
import { deliveryEffect } from "../../actors/hooks/delivery/delivery.effects.js";
import { MAX_OUTPUT_BYTES } from "../../actors/hooks/delivery/hook-answer.js";
import { afterEventSubscriber } from "../../actors/hooks/matching/fire-hooks.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { NetworkRequests } from "../../actors/outbound/http/network-requests.js";
import { createOutbound, type Outbound } from "../../actors/outbound/http/request.js";
import type { Kind } from "../../actors/resources/kind.js";
import type { WriteResult } from "../../actors/resources/resource.messages.js";
import { createSealer, type Sealer } from "../../actors/sealer.js";
import { openWorkspace } from "../../actors/workspaces/open-workspace.js";
import { workspaceRef } from "../../actors/workspaces/workspace.messages.js";
import type { ActorType } from "../../runtime/cells/actor-type.js";
import { address } from "../../runtime/cells/address.js";
import { createEventLoopScheduler, createSystemClock } from "../../runtime/clock.js";
import { createRuntime } from "../../runtime/host.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Delivered, Message } from "../../runtime/turns/turn.js";
import type { Store } from "../../storage/store.js";
import { type Deliverer, SECRET, toWork } from "./hook-events.js";

/** Makes an actor publish an event, as a task does. */
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

/** The optional parts of a hook: its condition, and the body of its request. */
interface Extras {
  readonly when: string | null;
  readonly body: unknown;
}

const plain: Extras = { when: null, body: null };

/** A hook with a condition and a body template. */
export const withExpressions: Extras = {
  when: "task.line == 'notes' && event.to != event.from && !('draft' in task.marks)",
  body: {
    text: `Task ${OPEN} task.title ${CLOSE} moved to ${OPEN} event.to ${CLOSE}`,
    task: `${OPEN} task.id ${CLOSE}`,
    marks: `${OPEN} task.marks ${CLOSE}`,
  },
};

export interface Served {
  /** Number of workspaces that share the events. Each workspace has its own hook. */
  readonly workspaces: number;
  readonly extras?: Extras;
}

/** Creates a deliverer that uses Signalbox's own hook deliveries, with one runtime and this many workspaces. */
export async function openServed(
  store: Store,
  url: string,
  { workspaces, extras = plain }: Served,
): Promise<Deliverer> {
  const allowList = parseAllowList(url);
  const outbound = createOutbound({ allowList, maxBodyBytes: MAX_OUTPUT_BYTES });
  const kinds = createKinds({ allowList, signsTokens: false });
  const sealer = createSealer(randomBytes(32), randomBytes);
  const runtime = await createService(store, { kinds, outbound, sealer });
  const hook = { url, sealedSecret: sealer.seal(SECRET), extras };
  const homes: Home[] = [];
  while (homes.length < workspaces) homes.push(await openHome(runtime, kinds, { hook, slug: `bench-${homes.length}` }));
  const waiting = new Map<string, () => void>();
  for (const home of homes) listenToDelivered(runtime, home, waiting);
  const deliver = async (n: number): Promise<void> => {
    const { workspaceId, teamId } = homes[n % homes.length] ?? { workspaceId: "", teamId: "" };
    const work = toWork(n, workspaceId, teamId);
    const delivered = new Promise<void>((resolve) => waiting.set(work.occurrence, resolve));
    const message: Happened = { type: "happened", work };
    await runtime.ask(address(workspaceId, "source", String(n % 1_000)), message);
    await delivered;
  };
  const close = async (): Promise<void> => {
    await runtime.stop();
    await outbound.close();
  };
  return { deliver, close };
}

async function createService(
  store: Store,
  {
    kinds,
    outbound,
    sealer,
  }: { readonly kinds: readonly Kind[]; readonly outbound: Outbound; readonly sealer: Sealer },
): Promise<Runtime> {
  const clock = createSystemClock();
  const delivery = deliveryEffect({
    outbound,
    network: new NetworkRequests(clock),
    sealer,
    clock,
    tokens: null,
    rotates: false,
    reading: () => runtime.reading,
    baseUrl: () => "http://localhost",
    newId: (prefix) => runtime.newId(prefix),
  });
  const runtime: Runtime = await createRuntime({
    store,
    catalogue: {
      actors: [...createActorTypes(kinds), source],
      subscribers: [afterEventSubscriber],
      gates: [],
      effects: [delivery],
    },
    clock,
    scheduler: createEventLoopScheduler(),
    randomBytes,
    cachedTables,
    log: { warn: console.warn, error: console.error },
  });
  return runtime;
}

/** A workspace with a team that has a hook. */
interface Home {
  readonly workspaceId: string;
  readonly teamId: string;
}

/** Calls an occurrence's callback in `waiting` once the team's stream reports the occurrence as delivered. */
function listenToDelivered(runtime: Runtime, { workspaceId, teamId }: Home, waiting: Map<string, () => void>): void {
  runtime.feed.listen(workspaceId, `team/${teamId}`, ({ data }) => {
    const { id, state } = data as { readonly id?: string; readonly state?: string };
    if (id === undefined || state !== "delivered") return;
    const occurrence = id.slice(0, id.indexOf("-"));
    waiting.get(occurrence)?.();
    waiting.delete(occurrence);
  });
}

/** Creates a workspace with a team and one hook on `task.moved`. */
async function openHome(
  runtime: Runtime,
  kinds: readonly Kind[],
  {
    hook: { url, sealedSecret, extras },
    slug,
  }: {
    readonly hook: { readonly url: string; readonly sealedSecret: string; readonly extras: Extras };
    readonly slug: string;
  },
): Promise<Home> {
  let workspaceId = "";
  const caller = { kind: "person", userId: "usr_1", email: "bench@localhost", sessionId: "ses_1" } as const;
  // Parses fields as the HTTP layer does, with every default filled in.
  const parsed = (name: string, fields: unknown) => kinds.find((kind) => kind.name === name)?.schema.parse(fields);
  const create = async (kind: string, teamId: string | null, fields: unknown, hidden: Record<string, string> = {}) => {
    const wanted = {
      kind,
      caller,
      client: null,
      teamId,
      fields: parsed(kind, fields),
      hidden,
      idempotency: { scope: "bench", key: `${slug} ${kind}`, digest: "" },
    };
    if (kind === "workspace") return (await openWorkspace(runtime, wanted)) as WriteResult;
    const asked: unknown = await runtime.ask(workspaceRef(workspaceId), { ...wanted, type: "resource.create" });
    return asked as WriteResult;
  };
  workspaceId = (await create("workspace", null, { slug, name: "Bench" })).resource.id;
  const team = await create("team", null, { key: "core", name: "Core" });
  const hook = {
    key: "bench",
    on: "task.moved",
    when: extras.when,
    vars: {},
    failure: "continue",
    timeoutSeconds: 10,
    match: { tools: [], lines: [], stations: [], repositories: [], paths: [] },
    steps: [{ name: "tell", request: { url, headers: {}, body: extras.body, from: "service" } }],
    signing: { secretVersion: 1 },
  };
  await create("hook", team.resource.id, hook, { "signing.secret": sealedSecret });
  return { workspaceId, teamId: team.resource.id };
}
