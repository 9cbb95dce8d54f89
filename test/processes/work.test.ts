import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { RunnerProcess } from "./runner-process.js";
import { ServiceProcess } from "./service-process.js";

/** Agents wait for this file, so that a test decides when a run goes on. */
const agent = (gate: string) => `
echo "attempt in $SIGNALBOX_RUN"
echo $$ >> ${gate}.started
while [ ! -f ${gate} ]; do sleep 0.05; done
echo done > result.txt
`;

interface Setting {
  readonly folder: string;
  readonly gate: string;
  readonly data: string;
  service: ServiceProcess;
  readonly cookie: Record<string, string>;
  readonly token: string;
  readonly teamId: string;
}

interface RunView {
  readonly id: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly waiting: { readonly reason: string } | null;
  readonly failure: { readonly code: string; readonly output: string } | null;
}

const settings = { LEASE_SECONDS: "2" };

async function arrange(
  t: Test,
  station: Record<string, unknown> = {},
  repository: Record<string, unknown> = {},
): Promise<Setting> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-work-"));
  const data = join(folder, "data");
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
  const line = {
    key: "dev",
    name: "Dev",
    repositories: [{ name: "acme/app", ...repository }],
    stations: [{ key: "work", name: "Work", kind: "work", runners: { pool: "main" }, ...station }],
  };
  const made = await create(`teams/${team.body?.id}/lines`, line);
  t.equal(made.status, 201);
  layRepository(join(folder, "repositories/acme/app"));
  const gate = join(folder, "gate");
  writeFileSync(join(folder, "agent.sh"), agent(gate));
  const token = String(pool.headers["service-pool-token"]);
  const setting: Setting = { folder, gate, data, service, cookie, token, teamId: String(team.body?.id) };
  t.teardown(async () => {
    await setting.service.end("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  return setting;
}

function layRepository(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", ...args], {
      cwd: folder,
      stdio: "ignore",
    });
  git("init", "--initial-branch", "main");
  writeFileSync(join(folder, "a.txt"), "one\n");
  git("add", ".");
  git("commit", "-m", "Begin");
}

function runner(t: Test, setting: Setting, name: string): RunnerProcess {
  const started = new RunnerProcess({
    url: setting.service.baseUrl,
    token: setting.token,
    workFolder: join(setting.folder, name),
    gitUrl: join(setting.folder, "repositories/{name}"),
    command: ["sh", join(setting.folder, "agent.sh")],
  });
  t.teardown(() => started.end("SIGKILL"));
  return started;
}

async function openTask({ service, cookie, teamId }: Setting): Promise<string> {
  const opened = await service.request("POST", `/api/teams/${teamId}/tasks`, {
    body: { title: "Do it", line: "dev" },
    headers: cookie,
  });
  return String(opened.body?.id);
}

async function runsOf(setting: Setting, taskId: string): Promise<readonly RunView[]> {
  const answer = await setting.service.request("GET", `/api/tasks/${taskId}/runs`, { headers: setting.cookie });
  return (answer.body?.items ?? []) as RunView[];
}

/** Looks again and again until it holds; the test's own time limit bounds it. */
async function until<T>(look: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

const started = ({ gate }: Setting) =>
  existsSync(`${gate}.started`) ? readFileSync(`${gate}.started`, "utf8").trim().split("\n").length : 0;

t.test("a runner killed with -9 in the middle of a run leads to another attempt on another runner", async (t) => {
  const setting = await arrange(t);
  const taskId = await openTask(setting);
  const [waiting] = await runsOf(setting, taskId);
  t.match(waiting?.waiting?.reason, /No runner of pool main is connected/);
  const first = runner(t, setting, "first");
  await until(() => started(setting) === 1);
  await first.end("SIGKILL");
  runner(t, setting, "second");
  await until(() => started(setting) === 2);
  writeFileSync(setting.gate, "");
  const runs = await until(async () => {
    const all = await runsOf(setting, taskId);
    return all.every(({ state }) => state === "ended") && all;
  });
  t.same(
    runs.map(({ outcome }) => outcome),
    ["completed", "abandoned"],
  );
  const run = await setting.service.request("GET", `/api/runs/${runs[0]?.id}`, { headers: setting.cookie });
  t.match(run.body?.checkouts, [{ diff: /\+done/ }]);
  const task = await setting.service.request("GET", `/api/tasks/${taskId}`, { headers: setting.cookie });
  t.equal(task.body?.state, "done");
});

t.test("a service killed with -9 comes back and goes on with the run that its runner still holds", async (t) => {
  const setting = await arrange(t);
  const taskId = await openTask(setting);
  runner(t, setting, "only");
  await until(() => started(setting) === 1);
  await until(async () => (await runsOf(setting, taskId))[0]?.state === "running");
  const { port } = setting.service;
  await setting.service.end("SIGKILL");
  writeFileSync(setting.gate, "");
  setting.service = await ServiceProcess.start(setting.data, settings, port);
  const runs = await until(async () => {
    const all = await runsOf(setting, taskId);
    return all.every(({ state }) => state === "ended") && all;
  });
  t.same(
    runs.map(({ outcome }) => outcome),
    ["completed"],
    "the same run, once",
  );
  t.equal(started(setting), 1, "the agent was started once");
});

t.test("a runner told to end finishes what it has first, and takes nothing more", async (t) => {
  const setting = await arrange(t);
  const first = runner(t, setting, "first");
  const taskId = await openTask(setting);
  await until(() => started(setting) === 1);
  const ended = first.end("SIGTERM");
  await until(() => first.output.some((line) => line.includes("draining")));
  writeFileSync(setting.gate, "");
  t.equal(await ended, 0);
  t.same(
    (await runsOf(setting, taskId)).map(({ outcome }) => outcome),
    ["completed"],
  );
});

t.test("a check that fails reaches the task with its output", async (t) => {
  const setting = await arrange(t, { harness: "command", check: "echo the check is not content; exit 3" });
  writeFileSync(setting.gate, "");
  runner(t, setting, "only");
  const taskId = await openTask(setting);
  const [run] = await until(async () => {
    const all = await runsOf(setting, taskId);
    return all[0]?.state === "ended" && all;
  });
  t.equal(run?.outcome, "failed");
  t.equal(run?.failure?.code, "check-failed");
  t.match(run?.failure?.output, /not content/);
  const task = await setting.service.request("GET", `/api/tasks/${taskId}`, { headers: setting.cookie });
  t.equal(task.body?.state, "inbox");
  t.match(task.body?.failure, { code: "check-failed" });
});

t.test("a setup that fails reaches the task with its output, before any agent began", async (t) => {
  const setting = await arrange(t, {}, { setup: "echo the compiler is not installed >&2; exit 5" });
  runner(t, setting, "only");
  const taskId = await openTask(setting);
  const [run] = await until(async () => {
    const all = await runsOf(setting, taskId);
    return all[0]?.state === "ended" && all;
  });
  t.match(run, { outcome: "failed", failure: { code: "setup-failed", output: /the compiler is not installed/ } });
  t.equal(started(setting), 0);
  const task = await setting.service.request("GET", `/api/tasks/${taskId}`, { headers: setting.cookie });
  t.match(task.body, { state: "inbox", failure: { code: "setup-failed", output: /the compiler is not installed/ } });
});
