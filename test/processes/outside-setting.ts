import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import type { CodeHost } from "../../http/demo/code-host/code-host.js";
import { startCodeHost } from "../support/code-host.js";
import { connect, install } from "../support/code-host-scene.js";
import { HeldTracker } from "./held-tracker.js";
import { RunnerProcess } from "./runner-process.js";
import { arrange, type Setting, until } from "./work-setting.js";

const toolClient = fileURLToPath(new URL("../../http/demo/tool-client.js", import.meta.url));

/**
 * An agent that comments, comments again with a person's approval, and writes a file. It reports the result of each
 * call.
 */
const AGENT = `
import { writeFileSync } from "node:fs";
import { ToolClient } from ${JSON.stringify(toolClient)};
const tracker = await ToolClient.open("tracker");
for (const tool of ["comment", "leave"]) {
  const { text, isError } = await tracker.call(tool, { text: process.env.SIGNALBOX_RUN + " " + tool });
  console.log(tool + ": " + (isError ? text : "done"));
}
writeFileSync(process.env.SIGNALBOX_TASK + ".txt", "done\\n");
tracker.close();
`;

interface CallView {
  readonly tool: string;
  readonly state: string;
  readonly code: string | null;
}

export interface TaskView {
  readonly id: string;
  readonly title: string;
  readonly state: string;
  readonly runId: string;
  readonly asks: string | null;
  readonly approvals: readonly { readonly id: string; readonly runId: string }[];
  readonly pullRequest: { readonly state: string } | null;
}

/**
 * A real service whose tasks come from a tracker, whose agents call the tracker, and whose changes go to a code host.
 */
export class OutsideSetting {
  private constructor(
    readonly setting: Setting,
    readonly tracker: HeldTracker,
    readonly codeHost: CodeHost,
    readonly integration: { readonly id: string; readonly deliveriesUrl: string },
  ) {}

  static async open(t: Test): Promise<OutsideSetting> {
    const tracker = await HeldTracker.start(t);
    const codeHost = await startCodeHost(t);
    await codeHost.work.addRepository("acme/app");
    install(codeHost, 7, { id: 9_001, login: "acme", type: "Organization" });
    codeHost.repositories.set(7, ["acme/app"]);
    const setting = await arrange(t, { settings: { ...codeHost.settings, OUTBOUND_ALLOW: tracker.url } });
    const { service, cookie: headers, workspaceId, teamId } = setting;
    const request = (method: "POST", path: string, body: unknown) => service.request(method, path, { body, headers });
    const connected = await connect(codeHost, { request }, { installationId: 7 });
    if (connected.status !== 200) throw new Error(`connecting answered ${connected.status}`);
    const create = async (path: string, body: unknown, key: string) => {
      const given = { ...headers, "idempotency-key": key };
      const made = await service.request("POST", `/api/resources/${path}`, { body, headers: given });
      if (made.status !== 201) throw new Error(`${path} answered ${made.status} ${JSON.stringify(made.body)}`);
      return made.body ?? {};
    };
    await create(`workspaces/${workspaceId}/secrets`, { ...tracker.secret, hosts: [] }, "secret");
    await create(`workspaces/${workspaceId}/runner-pools`, { key: "later" }, "later");
    const station = { key: "work", name: "Work", kind: "work", runners: { pool: "main" } };
    const definition = tracker.definition("ada@example.com");
    const { id, deliveriesUrl } = await create(`teams/${teamId}/integrations`, definition, "integration");
    const tools = ["tracker.comment", "tracker.leave"];
    const fix = { key: "fix", name: "Fix", repositories: [{ name: "acme/app" }], stations: [{ ...station, tools }] };
    await create(`teams/${teamId}/lines`, fix, "fix");
    const later = { key: "later", name: "Later", stations: [{ ...station, runners: { pool: "later" } }] };
    await create(`teams/${teamId}/lines`, later, "later-line");
    writeFileSync(join(setting.folder, "agent.mjs"), AGENT);
    return new OutsideSetting(setting, tracker, codeHost, { id: String(id), deliveriesUrl: String(deliveriesUrl) });
  }

  /** Starts a runner of the pool `main`. At the end of the test, the runner stops. */
  async runner(t: Test): Promise<RunnerProcess> {
    const { folder, service, token } = this.setting;
    const runner = new RunnerProcess({
      url: service.baseUrl,
      token,
      workFolder: join(folder, "runner"),
      more: ["--slots", "4"],
      gitUrl: `file://${await this.codeHost.work.folder}/{name}.git`,
      command: [process.execPath, join(folder, "agent.mjs")],
    });
    t.teardown(() => runner.end("SIGKILL"));
    return runner;
  }

  /** Reads a path as the owner. */
  async read(path: string): Promise<Readonly<Record<string, unknown>>> {
    const { service, cookie } = this.setting;
    return (await service.request("GET", path, { headers: cookie })).body ?? {};
  }

  async list<Item>(path: string): Promise<readonly Item[]> {
    return ((await this.read(path)).items ?? []) as readonly Item[];
  }

  /** Posts as the owner; throws on a refusal. */
  async post(path: string, body: unknown = {}): Promise<void> {
    const { service, cookie } = this.setting;
    const { status } = await service.request("POST", path, { body, headers: cookie });
    if (status >= 300) throw new Error(`${path} answered ${status}`);
  }

  titles(): Promise<readonly string[]> {
    return this.list<TaskView>(`/api/teams/${this.setting.teamId}/tasks?limit=200`).then((tasks) =>
      tasks.map(({ title }) => title),
    );
  }

  /** Waits until `isSo` returns true for the task with this title; resolves with the task. */
  async task(title: string, isSo: (task: TaskView) => boolean = () => true): Promise<TaskView> {
    return until(async () => {
      const tasks = await this.list<TaskView>(`/api/teams/${this.setting.teamId}/tasks?limit=200`);
      const found = tasks.find((task) => task.title === title);
      if (found === undefined) return false;
      const task = (await this.read(`/api/tasks/${found.id}`)) as unknown as TaskView;
      return isSo(task) && task;
    });
  }

  /**
   * Waits until a run of the task, other than the run `than`, waits for approval. Resolves with the task's first
   * approval.
   */
  async waiting(title: string, than = ""): Promise<{ readonly id: string; readonly runId: string }> {
    const { approvals } = await this.task(title, (task) => task.approvals.some(({ runId }) => runId !== than));
    const [approval] = approvals;
    if (approval === undefined) throw new Error("nothing waits");
    return approval;
  }

  approve({ id, runId }: { readonly id: string; readonly runId: string }): Promise<void> {
    return this.post(`/api/runs/${runId}/approvals/${id}/approve`);
  }

  /** Returns the texts that a run's agent reported. */
  async steps(runId: string): Promise<readonly string[]> {
    const steps = await this.list<{ readonly text: string }>(`/api/runs/${runId}/steps`);
    return steps.map(({ text }) => text);
  }

  /** Returns a run's calls, each with its result, such as `comment done`. */
  async calls(runId: string): Promise<readonly string[]> {
    const calls = await this.list<CallView>(`/api/runs/${runId}/tool-calls`);
    return calls.map(({ tool, state, code }) => [tool, state, code ?? []].flat().join(" ")).toSorted();
  }
}
