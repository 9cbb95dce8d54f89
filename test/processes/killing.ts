import { listStoredEntries } from "../../runtime/feeds/feed.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { askDoctor } from "./doctor.js";
import { ServiceProcess } from "./service-process.js";

export interface KillingOptions {
  /** Where the service keeps its data, over all its lives. */
  readonly folder: string;
  /** Idempotency keys, each of which creates one secret. */
  readonly keys: number;
  /** How many keys are under way at once. */
  readonly parallel: number;
  /** How often the process is killed with -9 while they are. */
  readonly kills: number;
}

export interface KillingReport {
  readonly kills: number;
  /** Creates that were answered 201, and resources there at the end. */
  readonly acknowledged: number;
  readonly resources: number;
  /** Requests that ended with the process, and those answered as a repetition of one before. */
  readonly cut: number;
  readonly replayed: number;
  /** Resources made by a process that was killed before it answered, found by the repetition. */
  readonly unanswered: number;
  /** Every promise that was broken; none when all is well. */
  readonly complaints: readonly string[];
}

interface Secret {
  readonly id: string;
  readonly name: string;
}

/** Longest time between the request that draws the kill and the kill, in milliseconds: what is under way is anywhere. */
const LATEST_KILL_MS = 12;

/**
 * Creates a secret under each key while the real process is killed again and again and started over the same data. A
 * client whose request is cut sends it again under its key; once every key was answered, clients go on to ask again for
 * what they had, until the last kill. At the end there is one resource a key, each under the id of every 201 for it.
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
  /** The request of this life that draws the kill. */
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

  /** Ends the process that runs. */
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

  /** One client: takes key after key until the process is gone, or none is left and no kill to come. */
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

  /** Creates one secret under its key; undefined when the service went away before it answered. */
  async #create(name: string): Promise<string | undefined> {
    const answer = await this.#service
      .request("POST", `/api/resources/workspaces/${this.#workspaceId}/secrets`, {
        headers: { ...this.#cookie, "idempotency-key": name },
        body: { name, value: `value of ${name}`, valueVersion: 1, hosts: [] },
      })
      .catch(() => undefined);
    if (answer === undefined) return undefined;
    // A process that was told to end may still say so.
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

  /** Every acknowledged resource is there, under the id that was answered, and no other. */
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

  /** The sequence of changes has no gap: nothing that was taken back left a number behind. The doctor finds nothing. */
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
