import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Chance, createChance } from "../simulation/chance.js";
import { agentScript } from "./agent.js";
import { type Configured, configure, OWNER } from "./configure.js";
import { type Host, openHost } from "./host.js";
import { type AgentStart, Ledger } from "./ledger.js";
import { Load } from "./load.js";
import { OutsideCodeHost } from "./outside-code-host.js";
import { OutsideTracker } from "./outside-tracker.js";
import { type Callback, Receiver } from "./receiver.js";
import { RepeatingClient } from "./repeating-client.js";
import { ServiceKeeper } from "./service-keeper.js";
import { StreamFollower } from "./stream-follower.js";

/**
 * The lease of a claim, in seconds. The lease is longer than any pause of a busy machine, and shorter than the faults
 * during which it must expire.
 */
const LEASE_SECONDS = 2;
/** Duration of faults that must outlast every lease. */
export const BEYOND_LEASE_MS = LEASE_SECONDS * 1_000 + 1_000;
/** The program with which agents call tools. */
const toolCaller = `'${process.execPath}' '${fileURLToPath(new URL("./tool-caller.js", import.meta.url))}'`;
const RUNNERS = 2;
const SLOTS = 4;

/** The open parts of a world; `end` closes them. */
interface Parts {
  readonly service: ServiceKeeper;
  readonly tell: Receiver;
  readonly ask: Receiver;
  readonly tracker: OutsideTracker;
  readonly codeHost: OutsideCodeHost;
  readonly ledger: Ledger;
}

/** One store and everything around it, over several rounds. */
export class World {
  readonly folder: string;
  readonly service: ServiceKeeper;
  /** The receiver of hooks with `after` timing, and the receiver of hooks with `before` timing. */
  readonly tell: Receiver;
  readonly ask: Receiver;
  /** The tracker: it opens tasks, and agents call its tools. */
  readonly tracker: OutsideTracker;
  /** The code host that runners push to. */
  readonly codeHost: OutsideCodeHost;
  readonly ledger: Ledger;
  readonly client: RepeatingClient;
  readonly configured: Configured;
  /** The cookie of the owner. */
  readonly headers: Readonly<Record<string, string>>;
  readonly load: Load;
  readonly hosts: readonly Host[];
  readonly followers: readonly StreamFollower[];
  /** The world calls these functions when it ends. Each function undoes a fault. */
  readonly onEnd = new Set<() => void>();
  readonly #callbacks = new Set<Promise<void>>();

  private constructor(
    folder: string,
    { service, tell, ask, tracker, codeHost, ledger }: Parts,
    of: {
      readonly headers: Readonly<Record<string, string>>;
      readonly configured: Configured;
      readonly hosts: readonly Host[];
      readonly chance: Chance;
    },
  ) {
    this.folder = folder;
    this.service = service;
    this.tell = tell;
    this.ask = ask;
    this.tracker = tracker;
    this.codeHost = codeHost;
    this.ledger = ledger;
    this.headers = of.headers;
    this.configured = of.configured;
    this.hosts = of.hosts;
    this.client = new RepeatingClient({ service, headers: of.headers, ledger, chance: of.chance });
    this.load = new Load({ client: this.client, ledger, tracker, codeHost, ...of.configured });
    const { teamId } = of.configured;
    const following = { baseUrl: () => service.baseUrl, headers: of.headers, teamId };
    this.followers = [1, 2].map(
      () => new StreamFollower({ ...following, onComplaint: (what) => ledger.complaints.push(what) }),
    );
    tell.onTaken = (callback) => this.#noteBack(callback);
  }

  /** Starts everything over an empty folder. */
  static async open(folder: string, seed: number): Promise<World> {
    const ledger = new Ledger();
    const chance = createChance(seed);
    const [tell, ask] = [await Receiver.open(), await Receiver.open()];
    const tracker = await OutsideTracker.open();
    const repositories = join(folder, "repositories");
    const codeHost = await OutsideCodeHost.open(repositories, () => service.nowMs, createChance(seed));
    const service: ServiceKeeper = new ServiceKeeper({
      dataFolder: join(folder, "data"),
      clockFile: join(folder, "clock"),
      settings: {
        LEASE_SECONDS: `${LEASE_SECONDS}`,
        RATE_PER_CREDENTIAL: "0",
        RATE_PER_ADDRESS: "0",
        OUTBOUND_ALLOW: `${tell.url},${ask.url},${tracker.url}`,
        TRANSPORT: chance.pick(["uws", "node"]),
        ...codeHost.settings,
      },
      onDeath: (said) => ledger.complaints.push(`the service ended by itself ${said}`),
    });
    await service.start();
    const headers = await service.life.signIn(OWNER);
    const configured = await configure(service, headers, { tell: tell.url, ask: ask.url, tracker });
    await codeHost.connect(service, headers);
    writeFileSync(join(folder, "agent.sh"), agentScript(join(folder, "starts"), toolCaller));
    const hosts: Host[] = [];
    for (let n = 0; n < RUNNERS; n++) {
      const { poolToken } = configured;
      const gitUrl = `file://${repositories}/{name}.git`;
      hosts.push(await openHost(folder, { name: `runner-${n}`, slots: SLOTS, service, poolToken, gitUrl }));
    }
    return new World(folder, { service, tell, ask, tracker, codeHost, ledger }, { headers, configured, hosts, chance });
  }

  /** The agents started so far. */
  get starts(): readonly AgentStart[] {
    const file = join(this.folder, "starts");
    const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
    return lines.map((line) => {
      const [pid = "", runId = "", taskId = ""] = line.split(" ");
      return { pid: Number(pid), runId, taskId };
    });
  }

  /** Whether a process is a living agent of this world. */
  isAgent(pid: number): boolean {
    const file = `/proc/${pid}/cmdline`;
    try {
      return readFileSync(file, "utf8").includes(join(this.folder, "agent.sh"));
    } catch {
      return false;
    }
  }

  /** Resolves when all notes from receivers have been answered. */
  async callbacksDone(): Promise<void> {
    await Promise.all(this.#callbacks);
  }

  /** Kills every process and closes everything. The folder stays. */
  close(): void {
    for (const end of this.onEnd) end();
    this.service.expectEnd();
    this.service.life.signal("SIGKILL");
    for (const { process: runner, wire } of this.hosts) {
      runner.signal("SIGKILL");
      wire.close();
    }
    for (const { pid } of this.starts) if (this.isAgent(pid)) process.kill(pid, "SIGKILL");
    for (const follower of this.followers) follower.end();
    this.tell.close();
    this.ask.close();
    this.tracker.close();
    this.codeHost.close();
    this.service.close();
  }

  /** Stores the processes' output and the clients' ledger next to the store. */
  keepLogs(): void {
    const logs = join(this.folder, "logs");
    mkdirSync(logs, { recursive: true });
    this.service.logs.forEach((lines, life) => {
      writeFileSync(join(logs, `service-${life + 1}.log`), lines.join("\n"));
    });
    this.hosts.forEach(({ process: runner }, n) => {
      writeFileSync(join(logs, `runner-${n}.log`), runner.output.join("\n"));
    });
    const { secrets, tasks, notes, deliveries } = this.ledger;
    const arrivals = [...this.tell.arrivals, ...this.ask.arrivals];
    writeFileSync(
      join(logs, "outside.json"),
      JSON.stringify({ secrets, tasks, notes, deliveries, arrivals, comments: this.tracker.comments }, null, 1),
    );
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  /**
   * Adds a note to the task of a hook request, through the request's callback. The request's id is the idempotency key.
   * Ignores refusals, for example because the callback's token has expired.
   */
  #noteBack({ token, taskId, id }: Callback): void {
    const text = `told by ${id}`;
    const headers = { authorization: `Bearer ${token}`, "idempotency-key": id };
    const noted = this.service
      .request("POST", "/api/hook-callbacks/notes", { headers, body: { body: text } })
      .then(({ status }) => {
        const isNew = !this.ledger.notes.some((note) => note.text === text);
        if (status !== 204) return;
        this.ledger.acknowledge();
        if (isNew) this.ledger.notes.push({ taskId, text });
      })
      .catch(() => undefined)
      .finally(() => this.#callbacks.delete(noted));
    this.#callbacks.add(noted);
  }
}
