import { listStoredEntries } from "../../runtime/feeds/feed.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { askDoctor } from "./doctor.js";
import { ServiceProcess } from "./service-process.js";

export interface KillingOptions {
  /** The data folder of all processes. */
  readonly folder: string;
  /** Number of idempotency keys, each of which creates one secret. */
  readonly keys: number;
  /** Number of keys in progress at once. */
  readonly parallel: number;
  /** Number of SIGKILLs during the creates. */
  readonly kills: number;
}

export interface KillingReport {
  readonly kills: number;
  /**
   * `acknowledged` is the number of keys whose create was answered with 201. `resources` is the number of resources at
   * the end.
   */
  readonly acknowledged: number;
  readonly resources: number;
  /**
   * `cut` is the number of requests that a kill interrupted. `replayed` is the number of requests that were answered as
   * a replay.
   */
  readonly cut: number;
  readonly replayed: number;
  /**
   * Number of resources that were created although no answer arrived, because the process was killed first. The clients
   * got each of these resources when they repeated its request.
   */
  readonly unanswered: number;
  /** Violated guarantees; empty if there are none. */
  readonly complaints: readonly string[];
}

interface Secret {
  readonly id: string;
  readonly name: string;
}

/**
 * The kill comes at a random time after a request, at most this many milliseconds later. So kills interrupt requests in
 * any phase.
 */
const LATEST_KILL_MS = 12;

/**
 * Creates a secret under each key. Meanwhile, the real process is repeatedly killed and started on the same data.
 *
 * If a kill interrupts a client's request, a client repeats the request under its key. When every key is answered,
 * clients repeat answered requests until the last kill. At the end, there must be one resource per key, and every 201
 * answer for this key must have the resource's id.
 */
export class Killing {
  readonly #options: KillingOptions;
  readonly #acknowledged = new Map<string, string>();
  readonly #complaints: string[] = [];
  readonly #open: string[];
  #service: ServiceProcess;
  readonly #cookie: Record<string, string>;
  readonly #workspaceId: string;
  #sent = 0;
  /** The number of the request that triggers the kill, counted from the start of the current process. */
  #killAtSend = Infinity;
  #kills = 0;
  #cut = 0;
  #replayed = 0;
  #unanswered = 0;

  private constructor(
    options: KillingOptions,
    service: ServiceProcess,
    of: { readonly cookie: Record<string, string>; readonly workspaceId: string },
  ) {
    this.#options = options;
    this.#service = service;
    this.#cookie = of.cookie;
    this.#workspaceId = of.workspaceId;
    this.#open = Array.from({ length: options.keys }, (_, index) => `key-${index}`);
  }

  /** Starts the first process and opens a workspace. */
  static async start(options: KillingOptions): Promise<Killing> {
    const service = await ServiceProcess.start(options.folder);
    const cookie = await service.signIn("ada@example.com");
    const workspace = await service.request("POST", "/api/resources/workspaces", {
      headers: { ...cookie, "idempotency-key": "workspace" },
      body: { slug: "acme", name: "Acme" },
    });
    if (workspace.status !== 201) throw new Error(`opening the workspace answered ${workspace.status}`);
    return new Killing(options, service, { cookie, workspaceId: String(workspace.body?.id) });
  }

  /** Kills the current process. Returns null if the signal ended the process; otherwise the exit code. */
  end(): Promise<number | null> {
    return this.#service.end("SIGKILL");
  }

  async run(): Promise<KillingReport> {
    const { kills, parallel, folder } = this.#options;
    for (;;) {
      this.#sent = 0;
      this.#killAtSend = this.#kills < kills ? parallel + Math.floor(Math.random() * 2 * parallel) : Infinity;
      await Promise.all(Array.from({ length: parallel }, () => this.#work()));
      if (this.#kills === kills && this.#open.length === 0) break;
      await this.#service.end("SIGKILL");
      this.#kills += 1;
      this.#service = await ServiceProcess.start(folder);
    }
    const resources = await this.#compare();
    const code = await this.#service.end("SIGTERM");
    if (code !== 0) this.#complaints.push(`it drained with ${code}`);
    await this.#checkSequence();
    return {
      kills: this.#kills,
      acknowledged: this.#acknowledged.size,
      resources,
      cut: this.#cut,
      replayed: this.#replayed,
      unanswered: this.#unanswered,
      complaints: this.#complaints,
    };
  }

  /** Runs one client. It sends requests until one request gets no answer, or until no keys and no kills are left. */
  async #work(): Promise<void> {
    for (;;) {
      const name = this.#open.shift() ?? (this.#killAtSend === Infinity ? undefined : this.#anyAcknowledged());
      if (name === undefined) return;
      this.#sent += 1;
      if (this.#sent === this.#killAtSend) {
        setTimeout(() => void this.#service.end("SIGKILL"), Math.random() * LATEST_KILL_MS);
      }
      const id = await this.#create(name);
      if (id === undefined) {
        this.#cut += 1;
        if (!this.#acknowledged.has(name)) this.#open.push(name);
        return;
      }
      this.#acknowledge(name, id);
    }
  }

  #anyAcknowledged(): string | undefined {
    const names = [...this.#acknowledged.keys()];
    return names[Math.floor(Math.random() * names.length)];
  }

  #acknowledge(name: string, id: string): void {
    const before = this.#acknowledged.get(name) ?? id;
    if (before !== id) this.#complaints.push(`${name} was answered with ${before} and with ${id}`);
    this.#acknowledged.set(name, id);
  }

  /** Creates one secret under its key. Returns undefined if the service exits before it answers. */
  async #create(name: string): Promise<string | undefined> {
    const answer = await this.#service
      .request("POST", `/api/resources/workspaces/${this.#workspaceId}/secrets`, {
        headers: { ...this.#cookie, "idempotency-key": name },
        body: { name, value: `value of ${name}`, valueVersion: 1, hosts: [] },
      })
      .catch(() => undefined);
    if (answer === undefined) return undefined;
    // A process that is shutting down may answer 503.
    if (answer.status === 503) return undefined;
    if (answer.status !== 201) {
      this.#complaints.push(`creating ${name} answered ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    if (answer.headers["idempotent-replayed"] === "true") {
      this.#replayed += 1;
      if (!this.#acknowledged.has(name)) this.#unanswered += 1;
    }
    return String(answer.body?.id);
  }

  /**
   * Checks that there is one resource per key, and that every acknowledged resource has the answered id. Returns the
   * number of resources.
   */
  async #compare(): Promise<number> {
    const path = `/api/resources/workspaces/${this.#workspaceId}/secrets`;
    const list = await this.#service.request("GET", path, { headers: this.#cookie });
    const items = (list.body?.items ?? []) as readonly Secret[];
    const found = new Map(items.map(({ name, id }) => [name, id]));
    if (items.length !== this.#options.keys) this.#complaints.push(`there are ${items.length} resources`);
    for (const [name, id] of this.#acknowledged) {
      if (found.get(name) !== id) this.#complaints.push(`${name} was answered with ${id} and is ${found.get(name)}`);
    }
    return items.length;
  }

  /**
   * Checks that the sequence of changes has no gap: a change that was rolled back must not use up a number. Also checks
   * that the doctor finds nothing.
   */
  async #checkSequence(): Promise<void> {
    const { folder } = this.#options;
    this.#complaints.push(...(await askDoctor(folder)));
    const store = await openLmdbStore({ folder });
    const sequences = listStoredEntries(store.reading, this.#workspaceId).map(({ seq }) => seq);
    await store.close();
    if (sequences.length < this.#options.keys) this.#complaints.push(`there are ${sequences.length} changes`);
    const [first = 0] = sequences;
    const gap = sequences.findIndex((sequence, index) => sequence !== first + index);
    if (gap >= 0) this.#complaints.push(`the change sequence has a gap before ${sequences[gap]}`);
  }
}
