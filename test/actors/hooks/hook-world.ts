import { hash } from "node:crypto";
import { setup } from "xstate";
import { createActorTypes, createKinds, gates, subscribers } from "../../../actors/catalogue.js";
import {
  type WorkEvent,
  type WorkEventName,
  type WorkFact,
  type WorkQuestion,
  workEvents,
} from "../../../actors/events/catalogue.js";
import { deliveryEffect } from "../../../actors/hooks/delivery/delivery.effects.js";
import type { AttemptRow, HookOccurrence } from "../../../actors/hooks/hook-occurrence.js";
import { hookOccurrences, listAttempts } from "../../../actors/hooks/hook-occurrence.table.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import type { OutboundAnswer } from "../../../actors/outbound/http/http-exchange.js";
import { NetworkRequests } from "../../../actors/outbound/http/network-requests.js";
import type { Outbound } from "../../../actors/outbound/http/request.js";
import type { CreateResource, WriteResult } from "../../../actors/resources/resource.messages.js";
import { createSealer } from "../../../actors/sealer.js";
import { retentionEffect } from "../../../actors/tables/retention.effects.js";
import { openWorkspace } from "../../../actors/workspaces/open-workspace.js";
import { workspaceRef } from "../../../actors/workspaces/workspace.messages.js";
import type { ActorType } from "../../../runtime/cells/actor-type.js";
import { address } from "../../../runtime/cells/address.js";
import { createRuntime } from "../../../runtime/host.js";
import type { Runtime } from "../../../runtime/runtime.js";
import type { Delivered, GateAnswer, Message } from "../../../runtime/turns/turn.js";
import { table } from "../../../storage/table.js";
import { type Chance, createChance } from "../../simulation/chance.js";
import { SimulatedDisk } from "../../simulation/disk.js";
import { World } from "../../simulation/world.js";
import { hookSecret } from "../../support/hook-receiver.js";

const URL_OF_RECEIVER = "https://receiver.test/";
const allowList = parseAllowList("receiver.test");
const kinds = createKinds({ allowList, signsTokens: false });

interface Happens extends Message {
  readonly type: "happens";
  readonly work: WorkEvent;
}

/** `[occurrence]` -> the gate's answers about this occurrence. A null answer allows the step. */
const gateAnswers = table<readonly (string | null)[]>("test-gate-answer");

/** An actor that acts like a task or a run: it publishes facts, and asks the gate before it takes a step. */
const source: ActorType = {
  kind: "source",
  version: 1,
  machine: setup({
    types: { events: {} as Delivered<Happens | GateAnswer> },
    actions: {
      happen: ({ event }) => {
        if (event.type !== "happens") return;
        const { turn, work } = event;
        if (workEvents[work.on].timing === "after") turn.publish({ name: work.on, work } as WorkFact);
        else turn.askGate({ name: work.on, id: work.occurrence, work } as WorkQuestion);
      },
      keep: ({ event }) => {
        if (event.type !== "gate.answered") return;
        const { turn, id, refused } = event;
        const before = gateAnswers.get(turn, turn.self.partition, id) ?? [];
        gateAnswers.put(turn, turn.self.partition, id, [...before, refused]);
      },
    },
  }).createMachine({
    initial: "on",
    states: { on: { on: { happens: { actions: "happen" }, "gate.answered": { actions: "keep" } } } },
  }),
};

/** A request as the receiver got it. */
export interface Received {
  readonly webhookId: string;
  readonly hook: string;
  readonly body: { readonly occurrence: string } & Readonly<Record<string, unknown>>;
}

/** Returns the answer of a hook's receiver. Null means that the receiver never answers. */
export type Answers = (request: Received) => Pick<OutboundAnswer, "status" | "body"> | null;

interface WorldOptions {
  readonly seed: number;
  readonly answer: Answers;
}

/**
 * Derives a seed from the hooks, so that worlds with different hooks use different ids and never share a process's
 * caches.
 */
function toSeed(seed: number, hooks: readonly Readonly<Record<string, unknown>>[]): number {
  return hash("sha256", JSON.stringify([seed, hooks]), "buffer").readInt32LE();
}

/** Hooks on the real runtime over a simulated disk, clock and receiver; the test can kill the process. */
export class HookWorld {
  readonly received: Received[] = [];
  readonly world: World;
  readonly disk: SimulatedDisk;
  readonly #chance: Chance;
  readonly #secretsKey: Uint8Array;
  answer: Answers;
  workspaceId = "";
  teamId = "";
  #runtime: Runtime | null = null;
  #occurrences = 0;
  #firings: { readonly flushes: number; readonly rows: readonly HookOccurrence[] } | null = null;

  private constructor({ seed, answer }: WorldOptions, hooks: readonly Readonly<Record<string, unknown>>[]) {
    this.#chance = createChance(toSeed(seed, hooks));
    this.world = new World(this.#chance);
    this.disk = new SimulatedDisk(this.world, this.#chance, null);
    this.#secretsKey = this.#chance.bytes(32);
    this.answer = answer;
  }

  /** Creates a world with a workspace and a team that has these hooks, two lines and an integration with tools. */
  static async create(options: WorldOptions, hooks: readonly Readonly<Record<string, unknown>>[]): Promise<HookWorld> {
    const made = new HookWorld(options, hooks);
    await made.start();
    await made.#configure(hooks);
    return made;
  }

  get runtime(): Runtime {
    if (this.#runtime === null) throw new Error("it is not running");
    return this.#runtime;
  }

  async start(): Promise<void> {
    const sealer = createSealer(this.#secretsKey, (count) => this.#chance.bytes(count));
    const clock = this.world.clock;
    const runtime: Runtime = await createRuntime({
      store: this.disk.open(),
      catalogue: {
        actors: [...createActorTypes(kinds), source],
        subscribers,
        gates,
        effects: [
          deliveryEffect({
            reading: () => runtime.reading,
            outbound: this.#outbound(),
            network: new NetworkRequests(clock),
            sealer,
            clock,
            tokens: null,
            rotates: false,
            baseUrl: () => "http://localhost",
            newId: (prefix) => runtime.newId(prefix),
          }),
          retentionEffect({ clock }),
        ],
      },
      clock,
      scheduler: this.world.scheduler,
      randomBytes: (count) => this.#chance.bytes(count),
      log: { warn: () => undefined, error: (message, details) => console.error(message, details) },
      freezes: true,
    });
    this.#runtime = runtime;
  }

  /** Ends the process like `kill -9`. */
  crash(): void {
    this.world.killProcess();
    this.disk.crash();
    this.#runtime = null;
  }

  async crashAndStart(): Promise<void> {
    this.crash();
    await this.start();
  }

  /** Publishes an event. `isAcknowledged` becomes true once the turn that publishes the event is on disk. */
  happen(on: WorkEventName, more: Partial<WorkEvent> = {}): { readonly occurrence: string; isAcknowledged: boolean } {
    this.#occurrences += 1;
    const occurrence = `occ_${String(this.#occurrences).padStart(26, "0")}`;
    const happening = { occurrence, isAcknowledged: false };
    const message: Happens = { type: "happens", work: { ...this.#event(on, occurrence), ...more } };
    this.runtime.ask(address(this.workspaceId, "source", occurrence), message).then(
      () => {
        happening.isAcknowledged = true;
      },
      () => undefined,
    );
    return happening;
  }

  /** Returns the hook occurrences on disk; reads them again only after a flush. */
  firings(): readonly HookOccurrence[] {
    const { flushes } = this.disk;
    if (this.#firings?.flushes !== flushes) {
      const rows = hookOccurrences.list(this.disk.reading, this.workspaceId, [this.teamId]);
      this.#firings = { flushes, rows };
    }
    return this.#firings.rows;
  }

  /** Returns the attempts of all hook occurrences. */
  attempts(): readonly AttemptRow[] {
    return this.firings().flatMap(({ id }) => this.listAttempts(id));
  }

  listAttempts(id: string): readonly AttemptRow[] {
    return listAttempts(this.disk.reading, this.workspaceId, this.teamId, id);
  }

  /**
   * Returns the gate's answers about an event with `before` timing. An answer is the reason why the step is refused, or
   * null if the step is allowed.
   */
  answersTo(occurrence: string): readonly (string | null)[] {
    return gateAnswers.get(this.disk.reading, this.workspaceId, occurrence) ?? [];
  }

  /** Steps the world in random order until `holds` returns true. */
  async until(holds: () => boolean, mostSteps = 100_000): Promise<void> {
    for (let steps = 0; !holds(); steps++) {
      if (steps > mostSteps || !(await this.world.step())) throw new Error("it never came to that");
    }
  }

  async steps(count: number): Promise<void> {
    for (let step = 0; step < count; step++) await this.world.step();
  }

  between(from: number, to: number): number {
    return this.#chance.between(from, to);
  }

  /**
   * Sends requests to the simulated receivers. A request arrives after a delay, and its answer arrives after another
   * delay.
   */
  #outbound(): Pick<Outbound, "post" | "send"> {
    const { world } = this;
    const post: Outbound["post"] = ({ headers, body }) =>
      new Promise((resolve) => {
        world.later(this.#chance.between(0, 20), () => {
          const webhookId = headers["webhook-id"] ?? "";
          const request = { webhookId, hook: headers["service-hook"] ?? "", body: JSON.parse(body) } as Received;
          this.received.push(request);
          const answer = this.answer(request);
          if (answer === null) return;
          world.later(this.#chance.between(0, 20), () => resolve({ ...answer, retryAfter: null }));
        });
      });
    return { post, send: () => Promise.reject(new Error("no step calls a tool")) };
  }

  async #configure(hooks: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    this.workspaceId = (await this.#create("workspace", { slug: "acme", name: "Acme" })).resource.id;
    this.teamId = (await this.#create("team", { key: "core", name: "Core" })).resource.id;
    await this.#create("integration", {
      integration: "tracker",
      name: "Tracker",
      hosts: ["receiver.test"],
      actions: { act: { request: { url: URL_OF_RECEIVER, method: "POST" } } },
      tools: { comment: { action: "act" }, close: { action: "act" } },
    });
    await this.#create("line", { key: "dev", name: "Dev", stations: [{ key: "work", name: "Work", kind: "work" }] });
    await this.#create("line", {
      key: "other",
      name: "Other",
      stations: [{ key: "work", name: "Work", kind: "work" }],
    });
    const sealed = createSealer(this.#secretsKey, (count) => this.#chance.bytes(count)).seal(hookSecret);
    for (const hook of hooks) {
      const steps = [{ name: "tell", request: { url: URL_OF_RECEIVER } }];
      await this.#create("hook", { steps, signing: { secretVersion: 1 }, ...hook }, { "signing.secret": sealed });
    }
  }

  async #create(name: string, fields: Readonly<Record<string, unknown>>, hidden = {}): Promise<WriteResult> {
    const kind = kinds.find((one) => one.name === name);
    const wanted: Omit<CreateResource, "type"> = {
      kind: name,
      client: null,
      hidden,
      fields: kind?.schema.parse(fields),
      caller: { kind: "person", userId: "usr_1", email: "ada@example.com", sessionId: "ses_1" },
      teamId: kind?.heldBy === "team" ? this.teamId : null,
      idempotency: { scope: "test", key: `${name}-${String(fields.key ?? "")}`, digest: "" },
    };
    let written: WriteResult | null = null;
    const { runtime, workspaceId } = this;
    const asked =
      name === "workspace"
        ? openWorkspace(runtime, wanted)
        : runtime.ask(workspaceRef(workspaceId), { ...wanted, type: "resource.create" });
    void asked.then((answer) => {
      written = answer as WriteResult;
    });
    await this.until(() => written !== null);
    if (written === null || "refused" in written) throw new Error(JSON.stringify(written));
    return written;
  }

  #event(on: WorkEventName, occurrence: string): WorkEvent {
    return {
      on,
      occurrence,
      workspaceId: this.workspaceId,
      teamId: this.teamId,
      lineId: "line_1",
      stationId: "sta_1",
      task: {
        id: `task_${occurrence}`,
        title: "Do it",
        url: "",
        line: "dev",
        station: "Work",
        stationKey: "work",
        marks: {},
        repositories: ["acme/app"],
        pullRequest: null,
      },
      run: workEvents[on].inRun ? { id: "run_1" } : null,
      event: { at: new Date(this.world.nowMs).toISOString() },
      causes: [],
    };
  }
}
