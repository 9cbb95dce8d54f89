import type { Test } from "tap";
import { RunnerPeer } from "./runner-peer.js";
import { type Client, startTestService, type TestService, type TestServiceOptions } from "./service.js";
import { until } from "./until.js";

/** A service with a workspace, a team, a pool and a line `dev`. The test claims the line's runs as a runner. */
export interface Workplace {
  readonly service: TestService;
  /** The workspace's owner, who is on the team. */
  readonly ada: Client;
  readonly workspaceId: string;
  readonly teamId: string;
  readonly poolId: string;
  readonly token: string;
  /** Connects a new runner; it is disconnected at the test's end. */
  runner(hello?: Parameters<typeof RunnerPeer.join>[2]): Promise<RunnerPeer>;
  /** Opens a task on the line; returns its id. */
  open(task?: Readonly<Record<string, unknown>>): Promise<string>;
  task(taskId: string): Promise<Readonly<Record<string, unknown>>>;
  /** Returns the task's runs, newest first. */
  runs(taskId: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Polls until `holds` returns true. */
  until(holds: () => Promise<boolean>): Promise<void>;
  /** Checks after every change of the topic until `holds` returns true. */
  when(topic: string, holds: () => Promise<boolean>): Promise<void>;
}

/** Two stations: `work` passes to `review`, which may send tasks back. */
const twoStations = [
  { key: "work", name: "Work", kind: "work", runners: { pool: "main" }, passesTo: ["review"] },
  { key: "review", name: "Review", kind: "review", runners: { pool: "main" }, passesTo: ["work"] },
];

interface WorkplaceOptions extends TestServiceOptions {
  readonly stations?: readonly unknown[];
  /** The line's key and name; `dev` by default. */
  readonly line?: { readonly key: string; readonly name: string };
  /** The line's repositories; `acme/app` by default. */
  readonly repositories?: readonly string[];
  readonly pool?: Readonly<Record<string, unknown>>;
}

export async function openWorkplace(t: Test, options: WorkplaceOptions = {}): Promise<Workplace> {
  const { stations = twoStations, repositories = ["acme/app"], pool: poolFields = {}, ...of } = options;
  const { key, name } = options.line ?? { key: "dev", name: "Dev" };
  const service = await startTestService(t, of);
  const { runtime } = service;
  const ada = await service.signIn("ada@example.com");
  const workspace = await ada.create("/api/resources/workspaces", { slug: "acme", name: "Acme" });
  const within = `/api/resources/workspaces/${workspace.id}`;
  const team = await ada.create(`${within}/teams`, { key: "core", name: "Core" });
  const body = { key: "main", ...poolFields };
  const pool = await ada.request("POST", `${within}/runner-pools`, body, { "idempotency-key": "pool" });
  const line = { key, name, repositories: repositories.map((each) => ({ name: each })), stations };
  await ada.create(`/api/resources/teams/${team.id}/lines`, line);
  const token = String(pool.headers["service-pool-token"]);
  const read = async (path: string) => (await ada.request("GET", path)).body ?? {};
  return {
    service,
    ada,
    workspaceId: workspace.id,
    teamId: team.id,
    poolId: String(pool.body?.id),
    token,
    runner: async (hello = {}) => {
      const peer = await RunnerPeer.join(service, token, hello);
      t.teardown(async () => peer.cut());
      return peer;
    },
    open: async (task = {}) => {
      const opened = await ada.request("POST", `/api/teams/${team.id}/tasks`, { title: "Do it", line: key, ...task });
      if (opened.status !== 201) throw new Error(`opening a task answered ${opened.status} ${opened.text}`);
      return String(opened.body?.id);
    },
    task: (taskId) => read(`/api/tasks/${taskId}`),
    runs: async (taskId) => (await read(`/api/tasks/${taskId}/runs`)).items as Readonly<Record<string, unknown>>[],
    until: async (holds) => void (await until(String(holds), holds)),
    when: (topic, holds) =>
      new Promise((resolve, reject) => {
        const look = () =>
          void holds().then((done) => {
            if (!done) return;
            end();
            resolve();
          }, reject);
        const end = runtime.feed.listen(workspace.id, topic, look);
        look();
      }),
  };
}
