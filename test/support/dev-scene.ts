import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { toOwnDevFolder } from "../../http/cli/command/places.js";
import { ApiError, type Client, createClient, type Schema } from "../../http/client/entry.js";
import { inRepository, layRepository } from "./repository.js";
import { openSignalbox, type Ran, type RunOptions, type Signalbox } from "./signalbox.js";
import { until } from "./until.js";

/** A git repository with one commit, and a person who uses the command line in this repository. */
export interface DevScene {
  readonly signalbox: Signalbox;
  readonly repository: string;
  /**
   * Runs a command in the repository. `dev` does not end by itself, so this function interrupts the command when the
   * command prints a line to standard output.
   */
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Starts `signalbox dev`; resolves when it has printed its lines. */
  start(...args: readonly string[]): Promise<Dev>;
}

/** `signalbox dev` while it runs. */
export interface Dev {
  /** The lines that the command printed at its start. */
  readonly lines: readonly string[];
  readonly url: string;
  /** A client that is signed in as the person of this machine. */
  readonly client: Client;
  readonly teamId: string;
  /** Interrupts the command, like Ctrl+C. */
  interrupt(): void;
  /** Interrupts the command, and resolves when the command has ended. */
  end(): Promise<Ran>;
}

/**
 * The settings of each start. With port 0 the service picks a free port, so that parallel tests do not share a port.
 */
const ENV = { PORT: "0" };

/** Creates a repository named `project` with one commit. */
export function openDevScene(t: Test, files: Readonly<Record<string, string>> = { "a.txt": "one\n" }): DevScene {
  const signalbox = openSignalbox(t);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-dev-")));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const repository = join(folder, "project");
  layRepository(repository, files);
  inRepository(repository, "config", "user.email", "ada@example.com");
  inRepository(repository, "config", "user.name", "Ada Lovelace");
  const run: DevScene["run"] = (args, options = {}) => {
    const ended = new AbortController();
    const until = { interrupted: ended.signal, printed: () => ended.abort() };
    return signalbox.run(args, { folder: repository, ...until, ...options });
  };
  return { signalbox, repository, run, start: (...args) => startDev(t, { signalbox, repository }, args) };
}

/**
 * Starts `signalbox dev` in a repository; resolves when the command has printed its lines. The end of the test
 * interrupts the command.
 */
export async function startDev(
  t: Test,
  { signalbox, repository }: Pick<DevScene, "signalbox" | "repository">,
  args: readonly string[],
): Promise<Dev> {
  const interrupted = new AbortController();
  const lines: string[] = [];
  let seen: () => void = () => undefined;
  const printed = new Promise<void>((resolve) => {
    seen = resolve;
  });
  const ended = signalbox.run(["dev", ...args], {
    env: ENV,
    folder: repository,
    interrupted: interrupted.signal,
    printed: (line) => lines.push(line) === 4 && seen(),
  });
  const interrupt = () => interrupted.abort();
  const end = () => {
    interrupt();
    return ended;
  };
  t.teardown(end);
  await Promise.race([
    printed,
    ended.then(({ err }) => {
      throw new Error(`signalbox dev ended: ${err}`);
    }),
  ]);
  const { url, cookie } = readLogin({ signalbox, repository });
  const client = createClient({ baseUrl: url, cookie });
  const [workspace] = (await client.get("/api/resources/workspaces")).items;
  const path = { workspaceId: workspace?.id ?? "" };
  const [team] = (await client.get("/api/resources/workspaces/{workspaceId}/teams", { path })).items;
  return { lines, url, client, teamId: team?.id ?? "", interrupt, end };
}

/** A person's home folder, and their repository. */
interface DevPlace {
  readonly signalbox: Pick<Signalbox, "home">;
  readonly repository: string;
}

/** The person's own folder for the repository. */
export function ownFolder({ signalbox, repository }: DevPlace): string {
  return toOwnDevFolder({ env: { HOME: signalbox.home } }, repository);
}

/** Reads the sign-in for the command line. */
export function readLogin(scene: DevPlace): {
  readonly url: string;
  readonly cookie: string;
} {
  return JSON.parse(readFileSync(join(ownFolder(scene), "login.json"), "utf8"));
}

/** Opens a task; returns its id. */
export async function openTask({ client, teamId }: Dev, title: string): Promise<string> {
  const { id } = await client.post("/api/teams/{teamId}/tasks", { path: { teamId }, body: { title, line: "main" } });
  return id;
}

/** Resolves with the task when it is in the wanted state. */
export function untilTaskIs({ client }: Dev, taskId: string, wanted: string): Promise<Schema<"Task">> {
  return until(`the task is ${wanted}`, async () => {
    const task = await client.get("/api/tasks/{taskId}", { path: { taskId } });
    return task.state === wanted ? task : null;
  });
}

/** Returns the changes of the task's last run, as a diff. */
export async function readDiff({ client }: Dev, taskId: string): Promise<string> {
  const { items } = await client.get("/api/tasks/{taskId}/runs", { path: { taskId } });
  const { text } = await client.send("get", "/api/runs/{runId}/diff", { path: { runId: items[0]?.id ?? "" } });
  return text;
}

/**
 * Returns the status of a failed call's response: null if the call succeeds, NaN if the call fails without a response.
 */
export async function statusOf(call: Promise<unknown>): Promise<number | null> {
  try {
    await call;
    return null;
  } catch (error) {
    return error instanceof ApiError ? error.status : Number.NaN;
  }
}
