import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { layRepository } from "../support/repository.js";
import { until as awaited } from "../support/until.js";
import { RunnerProcess } from "./runner-process.js";
import { ServiceProcess } from "./service-process.js";

/** Returns an agent that waits for the file `gate`, so that a test decides when a run continues. */
const gatedAgent = (gate: string) => `
echo "attempt in $SIGNALBOX_RUN"
echo $$ >> ${gate}.started
while [ ! -f ${gate} ]; do sleep 0.05; done
echo done > result.txt
`;

/** A real service with a line of one station over a real repository, for real runners. */
export interface Setting {
  readonly folder: string;
  readonly gate: string;
  service: ServiceProcess;
  /** Kills the service with SIGKILL and starts it again on the same store. Calls `meanwhile` while no service runs. */
  readonly restart: (meanwhile?: () => void) => Promise<void>;
  readonly cookie: Record<string, string>;
  readonly token: string;
  readonly workspaceId: string;
  readonly teamId: string;
  /** The service's settings; changes apply from its next start. */
  readonly settings: Record<string, string>;
}

export interface RunView {
  readonly id: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly waiting: { readonly reason: string } | null;
  readonly steps: number;
  readonly failure: { readonly code: string; readonly output: string } | null;
}

/** A test's changes to the default setting. */
export interface SettingWish {
  readonly station?: Record<string, unknown>;
  readonly repository?: Record<string, unknown>;
  /** The agent, as a shell script. */
  readonly agent?: string;
  /**
   * The lease of a runner, in seconds. Use `SHORT_LEASE` in tests that lose a runner permanently, and `LONG_LEASE` in
   * all others.
   */
  readonly leaseSeconds?: number;
  readonly settings?: Readonly<Record<string, string>>;
}

/** A lease in seconds: short enough to wait for, and long enough for a busy machine to renew. */
export const SHORT_LEASE = 5;
/** A lease in seconds that is longer than any test: a runner keeps its runs, however slowly the service restarts. */
export const LONG_LEASE = 600;

/** Starts the service and configures it. At the end of the test, the service stops and its folder is removed. */
export async function arrange(
  t: Test,
  { station = {}, repository = {}, agent, leaseSeconds = LONG_LEASE, settings: more = {} }: SettingWish = {},
): Promise<Setting> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-work-"));
  const data = join(folder, "data");
  const settings: Record<string, string> = { LEASE_SECONDS: String(leaseSeconds), ...more };
  const service = await ServiceProcess.start(data, settings);
  const cookie = await service.signIn("ada@example.com");
  const create = async (path: string, body: unknown) =>
    service.request("POST", `/api/resources/${path}`, {
      body,
      headers: { ...cookie, "idempotency-key": path.slice(-20) },
    });
  const workspace = await create("workspaces", { slug: "acme", name: "Acme" });
  const team = await create(`workspaces/${workspace.body?.id}/teams`, { key: "core", name: "Core" });
  const pool = await create(`workspaces/${workspace.body?.id}/runner-pools`, { key: "main" });
  layRepository(join(folder, "repositories/acme/app"));
  const gate = join(folder, "gate");
  writeFileSync(join(folder, "agent.sh"), agent ?? gatedAgent(gate));
  const token = String(pool.headers["service-pool-token"]);
  const setting: Setting = {
    folder,
    gate,
    service,
    cookie,
    token,
    settings,
    workspaceId: String(workspace.body?.id),
    teamId: String(team.body?.id),
    restart: async (meanwhile = () => undefined) => {
      const { port } = setting.service;
      await setting.service.end("SIGKILL");
      meanwhile();
      setting.service = await ServiceProcess.start(data, settings, port);
    },
  };
  t.teardown(async () => {
    await setting.service.end("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  await addLine(setting, "dev", { station, repository });
  return setting;
}

/** Adds a line of one station over the repository. */
export async function addLine(
  { service, cookie, teamId }: Setting,
  key: string,
  { station = {}, repository = {} }: Pick<SettingWish, "station" | "repository">,
): Promise<void> {
  const line = {
    key,
    name: "Dev",
    repositories: [{ name: "acme/app", ...repository }],
    stations: [{ key: "work", name: "Work", kind: "work", runners: { pool: "main" }, ...station }],
  };
  const made = await service.request("POST", `/api/resources/teams/${teamId}/lines`, {
    body: line,
    headers: { ...cookie, "idempotency-key": `line-${key}` },
  });
  if (made.status !== 201) throw new Error(`the line answered ${made.status}`);
}

/** Starts a runner. At the end of the test, the runner stops. */
export function runner(t: Test, setting: Setting, name: string, more: readonly string[] = []): RunnerProcess {
  const started = new RunnerProcess({
    url: setting.service.baseUrl,
    token: setting.token,
    workFolder: join(setting.folder, name),
    gitUrl: join(setting.folder, "repositories/{name}"),
    command: ["sh", join(setting.folder, "agent.sh")],
    more,
  });
  t.teardown(() => started.end("SIGKILL"));
  return started;
}

export async function openTask({ service, cookie, teamId }: Setting, line = "dev"): Promise<string> {
  const opened = await service.request("POST", `/api/teams/${teamId}/tasks`, {
    body: { title: "Do it", line },
    headers: cookie,
  });
  return String(opened.body?.id);
}

/** Returns a task's runs, newest first. */
export async function listRuns(setting: Setting, taskId: string): Promise<readonly RunView[]> {
  const answer = await setting.service.request("GET", `/api/tasks/${taskId}/runs`, { headers: setting.cookie });
  return (answer.body?.items ?? []) as RunView[];
}

/** Polls until `look` returns a value other than false, null and undefined; resolves with this value. */
export function until<T>(look: () => Promise<T> | T) {
  return awaited(String(look), look);
}

/** Returns the number of started agents. */
export const started = ({ gate }: Setting) =>
  existsSync(`${gate}.started`) ? readFileSync(`${gate}.started`, "utf8").trim().split("\n").length : 0;
