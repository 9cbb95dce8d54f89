import { setImmediate as loopTurn } from "node:timers/promises";
import type { Test } from "tap";
import { codeHostConnections } from "../../actors/code-host/connection.table.js";
import { commitEffect } from "../../actors/config-pull-requests/commit.effects.js";
import type { ConfigPullRequestRow } from "../../actors/config-pull-requests/config-pull-request.js";
import { configPullRequestActor } from "../../actors/config-pull-requests/config-pull-request.machine.js";
import {
  configPullRequestRef,
  type PickCandidate,
} from "../../actors/config-pull-requests/config-pull-request.messages.js";
import { findPullRequestByCandidate } from "../../actors/config-pull-requests/config-pull-request.table.js";
import type { EditOutcome, SourceTree, WantedStation } from "../../actors/config-pull-requests/edit/station-edit.js";
import { openConfigEffect } from "../../actors/config-pull-requests/open.effects.js";
import type { PickedConfig } from "../../actors/config-pull-requests/picked-config.js";
import { createCodeHost } from "../../actors/outbound/code-host/code-host.js";
import type { Outbound } from "../../actors/outbound/http/request.js";
import { pullRequestLogActor } from "../../actors/pull-requests/pull-request-log.machine.js";
import { findResource, resources } from "../../actors/resources/resource.table.js";
import type { FileChanges, HostedRepository } from "../../http/demo/code-host/hosted-repository.js";
import { startCodeHost } from "./code-host.js";
import { install } from "./code-host-scene.js";
import { Harness } from "./harness.js";
import { reachHost } from "./host-client.js";
import { memoryRows } from "./turn.js";
import { line, lineId, putLine, putTeam, teamId, workspaceId } from "./work.js";

/** Where to kill a process: before or after its n-th commit, or before or after its n-th write at the code host. */
export interface PickKill {
  readonly at: "commit" | "write";
  readonly n: number;
  readonly when: "before" | "after";
}

export const candidateId = "cand_01J0000000000000000ABCDEFG";
const caller = { kind: "person", userId: "usr_1", email: "usr_1@example.com", sessionId: "ses_1" } as const;
const path = "lines/dev.tf";
const INSTALLATION = 7;
const MAX_ROUNDS = 2_000;
const before = 'station = {\n  harness = "command"\n}\n';

/** Opens a code host for one test's picks. */
export async function openPickedHost(t: Test) {
  const clock = { now: () => Date.parse("2026-01-01T00:00:00.000Z") };
  const peer = await startCodeHost(t, () => clock.now());
  install(peer, INSTALLATION);
  return { clock, peer, ...reachHost(t, peer), count: 0 };
}

type PickedHost = Awaited<ReturnType<typeof openPickedHost>>;

/**
 * A picked candidate whose pull request the real runtime opens at the demo code host ({@link CodeHost}). The runtime's
 * clock and disk are simulated.
 */
export class PickedWorld {
  readonly harness = new Harness({ catalogue: {} });
  readonly host: PickedHost;
  readonly infra: HostedRepository;
  /** Number of writes at the code host so far, over all processes. */
  writes = 0;
  kill: PickKill | null = null;
  /** Called repeatedly while a pull request is being opened. */
  onRound: () => void = () => undefined;
  /**
   * The world waits for this function before each request to the code host. `name` is the request's method and path.
   */
  beforeSend: (name: string) => Promise<void> = async () => undefined;
  #live: { isDead: boolean } = { isDead: false };
  readonly #sent = new Set<Promise<unknown>>();

  private constructor(host: PickedHost, infra: HostedRepository) {
    this.host = host;
    this.infra = infra;
  }

  static async open(host: PickedHost, kill: PickKill | null = null, files: FileChanges = {}): Promise<PickedWorld> {
    host.count += 1;
    const name = `acme-inc/infra-${host.count}`;
    host.peer.repositories.set(INSTALLATION, [...(host.peer.repositories.get(INSTALLATION) ?? []), name]);
    const infra = await host.peer.work.addRepository(name, { [path]: before, ...files });
    const world = new PickedWorld(host, infra);
    host.clock.now = () => world.harness.world.clock.now();
    await world.#putRows();
    await world.restart();
    if (kill !== null) world.kill = kill;
    if (kill?.at === "commit") {
      world.harness.killAt = { commit: world.harness.batches.length + kill.n, when: kill.when };
    }
    return world;
  }

  get row(): ConfigPullRequestRow | undefined {
    return findPullRequestByCandidate(this.harness.durable, workspaceId, candidateId);
  }

  /** Returns the branches and pull requests at the code host. */
  async there() {
    const heads = await this.infra.heads();
    const pulls = this.host.peer.work.pulls.filter(({ repository }) => repository === this.infra);
    return { branches: [...heads.keys()].filter((name) => name !== "main"), pulls };
  }

  /** Picks the candidate as a user. */
  ask(key: string): void {
    const message: PickCandidate = {
      type: "candidate.pick",
      caller,
      client: null,
      idempotency: { scope: "usr_1", key, digest: "d" },
      candidate: {
        teamId,
        searchId: "srch_1",
        candidateId,
        candidateName: "careful",
        lineId,
        stationId: "sta_work",
        stationKey: "work",
      },
    };
    void this.harness.runtime.ask(configPullRequestRef(workspaceId, candidateId), message).catch(() => undefined);
  }

  /**
   * Picks the candidate, and waits until its pull request is opened or refused. If the process is killed meanwhile,
   * picks the candidate again.
   */
  async pick(key: string): Promise<ConfigPullRequestRow> {
    const { harness } = this;
    const attempts = (this.row?.attempts ?? 0) + 1;
    const isBegun = () => this.row?.attempts === attempts;
    let isTold = false;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      if (this.#isKilled()) {
        await this.#revive();
        isTold = isBegun();
      }
      if (!isTold) this.ask(key);
      isTold = true;
      await harness.advance(1_000);
      await this.#answered();
      this.onRound();
      const { row } = this;
      if (!this.#isKilled() && isBegun() && row !== undefined && row.state !== "opening") return row;
    }
    throw new Error(`it is never opened: ${JSON.stringify(this.row)}`);
  }

  /** Resolves when no request is in flight. */
  async #answered(): Promise<void> {
    await loopTurn();
    while (this.#sent.size > 0) {
      await Promise.all(this.#sent);
      await loopTurn();
    }
  }

  #isKilled(): boolean {
    const { killAt, batches } = this.harness;
    return this.#live.isDead || (killAt !== null && batches.length >= killAt.commit);
  }

  async #revive(): Promise<void> {
    this.#live.isDead = true;
    await Promise.all([...this.#sent]);
    this.harness.killAt = null;
    this.kill = null;
    this.harness.crash();
    await this.restart();
  }

  /** Starts a process on the current disk. */
  async restart(): Promise<void> {
    const live = { isDead: false };
    this.#live = live;
    const { clock } = this.harness.world;
    const codeHost = createCodeHost({
      settings: this.host.settings,
      outbound: this.#outbound(live),
      now: () => clock.now(),
      log: { warn: () => undefined },
      pause: async () => undefined,
    });
    const reading = () => this.harness.durable;
    const findPicked = () => pickedConfig;
    await this.harness.start({
      actors: [configPullRequestActor, pullRequestLogActor],
      effects: [
        commitEffect({ codeHost, reading, findPicked, editStation: editByHand, clock }),
        openConfigEffect({ codeHost, reading, findPicked, baseUrl: () => "https://here.example" }),
      ],
    });
  }

  /**
   * Sends the requests of a living process. If the process was killed after it sent a request, the request takes
   * effect, but the process gets no answer.
   */
  #outbound(live: { isDead: boolean }): Pick<Outbound, "send"> {
    const never = () => new Promise<never>(() => undefined);
    const die = () => {
      live.isDead = true;
      return never();
    };
    return {
      send: async (request) => {
        if (live.isDead) return never();
        const isWrite = request.method !== "GET" && !request.url.pathname.endsWith("/access_tokens");
        if (isWrite) this.writes += 1;
        const { kill, writes } = this;
        const isLast = isWrite && kill?.at === "write" && kill.n === writes;
        if (isLast && kill.when === "before") return die();
        const sent = this.beforeSend(`${request.method} ${request.url.pathname}`).then(() =>
          this.host.outbound.send(request),
        );
        const done = sent.then(
          () => void this.#sent.delete(done),
          () => void this.#sent.delete(done),
        );
        this.#sent.add(done);
        const answer = await sent;
        return isLast || live.isDead ? die() : answer;
      },
    };
  }

  async #putRows(): Promise<void> {
    const rows = memoryRows();
    putLine(rows);
    putTeam(rows);
    const put = (kind: string, id: string, fields: object) => {
      const row = findResource(rows, workspaceId, kind, id);
      if (row === undefined) throw new Error(`there is no ${kind}`);
      resources.put(rows, workspaceId, [kind, id], { ...row, fields: { ...row.fields, ...fields } });
    };
    put("line", lineId, { source: { repository: this.infra.name, path } });
    put("team", teamId, { key: "core" });
    codeHostConnections.insert(rows, workspaceId, {
      host: this.host.peer.name,
      installationId: INSTALLATION,
      state: "connected",
      connectedBy: "usr_1",
      account: { login: "acme-inc", kind: "organization" },
      connectedAtMs: 0,
      asOfMs: 0,
    });
    const changes = rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put", key, value }) as const);
    const stored = this.harness.disk.open().commit(changes);
    await this.harness.advance();
    await stored;
  }
}

const live = line.stations[0];
if (live === undefined) throw new Error("the line has no station");

/** A candidate with another harness and no figures. */
export const pickedConfig: PickedConfig = {
  was: live,
  wanted: { ...live, harness: "claude" },
  hypothesis: "It reads first.",
  changes: [{ part: "harness", name: null, kind: "changed", was: "command", now: "claude" }],
  evidence: {
    objective: "success",
    searched: null,
    heldOut: null,
    heldOutCost: null,
    onlyOnSeenTasks: null,
    replays: { live: "rep_1", searched: "rep_2", heldOut: null },
  },
};

/**
 * Replaces the station's attribute in the sources of this file. These sources have only one attribute to edit; other
 * tests cover complete edits.
 */
async function editByHand(tree: SourceTree, { path: file, live, wanted }: WantedStation): Promise<EditOutcome> {
  const text = await tree.read(file);
  const refused = { attribute: "harness", expression: null, wanted: wanted.harness };
  if (typeof text !== "string") return { refused: { code: "not-found", message: `There is no ${file}.`, ...refused } };
  await tree.list();
  const after = text.replace(`harness = "${live.harness}"`, `harness = "${wanted.harness}"`);
  if (after === text) return { refused: { code: "changed-meanwhile", message: "It is another.", ...refused } };
  return { files: [{ path: file, before: text, after }] };
}
