import WebSocket from "ws";
import type { ServiceProcess } from "../processes/service-process.js";
import { hookSecret } from "../support/hook-receiver.js";
import { RunnerPeer } from "../support/runner-peer.js";
import { Refused } from "./refused.js";

/** The runner's slots. There are more slots than concurrent runs. */
const SLOTS = 64;
const BEAT_MS = 5_000;

/** A service that receives the noise. */
type NoiseSite = Pick<ServiceProcess, "baseUrl" | "request">;

type Event = "task.opened" | "run.starting";

/** A workspace with a team and a line. The workspace's owner adds hooks and opens tasks. */
export class NoiseTenant {
  readonly #service: NoiseSite;
  readonly #cookie: Readonly<Record<string, string>>;
  readonly #teamId: string;
  #keys = 0;

  private constructor(service: NoiseSite, cookie: Readonly<Record<string, string>>, teamId: string) {
    this.#service = service;
    this.#cookie = cookie;
    this.#teamId = teamId;
  }

  /** Opens a workspace of the cookie's user; connects a runner, unless `runner` is null. */
  static async open(
    service: NoiseSite,
    cookie: Readonly<Record<string, string>>,
    slug: string,
    runner: typeof joinRunner | null = joinRunner,
  ): Promise<NoiseTenant> {
    const create = async (path: string, body: unknown, key: string) => {
      const headers = { ...cookie, "idempotency-key": key };
      const answer = await service.request("POST", path, { body, headers });
      if (answer.status !== 201) throw new Refused(path, answer);
      return answer;
    };
    const made = async (path: string, body: unknown, key: string) => String((await create(path, body, key)).body?.id);
    const workspace = await made("/api/resources/workspaces", { slug, name: slug }, `workspace-${slug}`);
    const within = `/api/resources/workspaces/${workspace}`;
    const team = await made(`${within}/teams`, { key: "core", name: "Core" }, `team-${slug}`);
    const pool = await create(`${within}/runner-pools`, { key: "main" }, `pool-${slug}`);
    await create(
      `/api/resources/teams/${team}/lines`,
      { key: "dev", name: "Dev", stations: [{ key: "work", name: "Work", kind: "work", runners: { pool: "main" } }] },
      `line-${slug}`,
    );
    await runner?.(service, String(pool.headers["service-pool-token"]));
    return new NoiseTenant(service, cookie, team);
  }

  /** Adds a hook that sends one request to the address. */
  async addHook(on: Event, url: string, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const key = `hook-${this.#keys++}`;
    const body = {
      key,
      on,
      steps: [{ name: "tell", request: { url } }],
      signing: { secret: hookSecret, secretVersion: 1 },
      timeoutSeconds: 30,
      ...more,
    };
    const answer = await this.#post(`/api/resources/teams/${this.#teamId}/hooks`, body, key);
    if (answer.status !== 201) throw new Refused("a hook", answer);
  }

  /** Opens a task; returns its id. */
  async openTask(): Promise<string> {
    const answer = await this.#post(`/api/teams/${this.#teamId}/tasks`, { title: "Do it", line: "dev" });
    if (answer.status !== 201) throw new Refused("a task", answer);
    return String(answer.body?.id);
  }

  /** Returns the team's newest 200 hook occurrences in a state, with their codes. */
  async firings(state: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const path = `/api/teams/${this.#teamId}/hook-occurrences?limit=200&state=${state}`;
    const answer = await this.#service.request("GET", path, { headers: this.#cookie });
    if (answer.status !== 200) throw new Refused("a list", answer);
    return (answer.body?.items ?? []) as readonly Readonly<Record<string, unknown>>[];
  }

  #post(path: string, body: unknown, key?: string) {
    const headers = { ...this.#cookie, ...(key === undefined ? {} : { "idempotency-key": key }) };
    return this.#service.request("POST", path, { body, headers });
  }
}

/** Connects a runner that claims runs and does not work on them. The runner stays connected until the process exits. */
async function joinRunner({ baseUrl }: NoiseSite, token: string): Promise<void> {
  const socket = (path: string) =>
    new WebSocket(`${baseUrl.replace("http", "ws")}${path}`, { headers: { authorization: `Bearer ${token}` } });
  const peer = await RunnerPeer.join({ withToken: () => ({ socket }) }, token, { slots: SLOTS });
  setInterval(() => void peer.beat().catch(() => undefined), BEAT_MS).unref();
}
