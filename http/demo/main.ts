#!/usr/bin/env node
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readConfig } from "../config.js";
import type { ServiceLog } from "../log.js";
import { startService } from "../service.js";
import { Client } from "./client.js";
import { startReceiver } from "./receiver.js";
import { layRepository } from "./repository.js";
import { line, Show } from "./show.js";

/**
 * The main job on real input, in one terminal: a service on the embedded store in a temporary folder, a runner as a
 * process of its own, a line of two stations over a real git repository, two hooks, and tasks that agents work on.
 */

const taskTexts = [
  ["Why batches", "Say why turns are committed in batches."],
  ["Fencing tokens", "Say what a fence is for. (unlisted at first)"],
  ["Hook retries", "Say how hooks are retried. (says little at first)"],
  ["Leases", "Say what a lease is. (untitled at first)"],
  ["The change feed", "Say who reads the feed. (unlisted at first)"],
  ["Dead letters", "Say where they go."],
] as const;

const PATIENCE_MS = 60_000;
/** Every note begins with a title. */
const CHECK =
  'for note in notes/*.md; do case "$note" in */INDEX.md) ;; *) head -1 "$note" | grep -q "^# " || exit 1;; esac; done';

const here = fileURLToPath(new URL(".", import.meta.url));
const project = process.cwd();

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-demo-"));
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  const receiver = await startReceiver(secret);
  const mails: string[] = [];
  const service = await startService({
    config: readConfig({ DATA_DIR: join(folder, "data"), PORT: "0", OUTBOUND_ALLOW: receiver.url }),
    log: quietLog(mails),
  });
  line("demo", `the service listens on ${service.baseUrl}, its store is in ${folder}`);
  const commits = layRepository(project, join(folder, "repositories", "acme", "project"));
  line("demo", `the repository acme/project has ${commits} commits`);

  const client = new Client(service.baseUrl);
  await client.signIn("ada@example.com", (email) => mails.findLast((mail) => mail.includes(email)));
  const { teamId, poolToken } = await configure(client, receiver.url, secret);
  const runner = startRunner(service.baseUrl, poolToken, folder);

  const follow = { subscribe: (_topic: string): void => undefined };
  const show = new Show((topic) => follow.subscribe(topic));
  const stream = await client.follow((message) => show.hear(message));
  follow.subscribe = (topic) => stream.subscribe(topic);
  stream.subscribe(`team/${teamId}`);

  for (const [title, description] of taskTexts) {
    await client.post(`/api/teams/${teamId}/tasks`, { title, description, line: "notes" });
  }
  const isOver = () =>
    show.counts.states.size === taskTexts.length &&
    [...show.counts.states.values()].every((state) => state === "done" || state === "inbox");
  const inTime = await until(isOver, PATIENCE_MS);
  const firings = () => client.get<{ items: { state: string }[] }>(`/api/teams/${teamId}/hook-occurrences?limit=200`);
  await until(async () => (await firings()).items.every(({ state }) => state !== "attempting"), PATIENCE_MS);
  const { items } = await firings();

  const { counts } = show;
  const { received } = receiver;
  const done = [...counts.states.values()].filter((state) => state === "done").length;
  line("demo", "");
  line(
    "demo",
    `${done} of ${taskTexts.length} tasks done, ${counts.moves} moves, ${counts.sentBack} sent back by review`,
  );
  line(
    "demo",
    `${counts.steps} steps, ${items.length} hooks fired, ${received.verified} requests verified, ${received.forged} not`,
  );
  line("demo", `${received.vetoes} handovers refused by the before-hook`);

  const came =
    inTime && done === taskTexts.length && counts.sentBack === 2 && received.vetoes === 1 && received.forged === 0;
  const end = async (code: number) => {
    stream.end();
    const gone = once(runner, "exit");
    runner.kill("SIGTERM");
    await gone;
    await service.stop();
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
    process.exit(code);
  };
  if (!came) line("demo", "this is not how it should have come out");
  if (process.argv.includes("--exit") || !came) return end(came ? 0 : 1);
  line("demo", `the service stays up at ${service.baseUrl}; sign in as ada@example.com, end with Ctrl+C`);
  mails.length = 0;
  process.once("SIGINT", () => void end(0)).once("SIGTERM", () => void end(0));
  return undefined;
}

async function configure(client: Client, receiverUrl: string, secret: string) {
  const under = "/api/resources";
  const { body: workspace } = await client.post(`${under}/workspaces`, { slug: "acme", name: "Acme" });
  const { body: team } = await client.post(`${under}/workspaces/${workspace.id}/teams`, { key: "docs", name: "Docs" });
  await client.post(`${under}/workspaces/${workspace.id}/secrets`, {
    name: "model-key",
    value: "a key that no agent of the demo needs",
    valueVersion: 1,
  });
  const pool = await client.post(`${under}/workspaces/${workspace.id}/runner-pools`, { key: "local" });
  const runners = { pool: "local", labels: [] };
  await client.post(`${under}/teams/${team.id}/lines`, {
    key: "notes",
    name: "Notes",
    repositories: [{ name: "acme/project" }],
    stations: [
      {
        key: "work",
        name: "Write",
        kind: "work",
        prompt: "Write the note.",
        check: CHECK,
        passesTo: ["review"],
        runners,
      },
      { key: "review", name: "Review", kind: "review", prompt: "Is it listed?", passesTo: ["work"], runners },
    ],
  });
  const request = { url: `${receiverUrl}/hooks` };
  const signing = { secret, secretVersion: 1 };
  const hooks = [
    { key: "tell-moves", on: "task.moved", steps: [{ name: "tell", request }], signing },
    {
      key: "notes-name-files",
      on: "handover.giving",
      match: { lines: ["notes"], stations: ["work"] },
      steps: [{ name: "ask", request }],
      signing,
      failure: "block",
    },
  ];
  for (const hook of hooks) await client.post(`${under}/teams/${team.id}/hooks`, hook);
  return { teamId: team.id, poolToken: pool.headers.get("service-pool-token") ?? "" };
}

function startRunner(url: string, token: string, folder: string) {
  const args = [
    join(here, "../runner/main.js"),
    ...["--url", url, "--name", "demo", "--slots", "2", "--work-folder", join(folder, "runner")],
    ...["--git-url", join(folder, "repositories", "{name}")],
    ...["--command", process.execPath, join(here, "agent.js")],
  ];
  const env = { ...process.env, SIGNALBOX_POOL_TOKEN: token };
  return spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "inherit"] });
}

async function until(holds: () => boolean | Promise<boolean>, patienceMs: number): Promise<boolean> {
  const begun = Date.now();
  while (!(await holds())) {
    if (Date.now() - begun > patienceMs) return false;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return true;
}

/** The demo shows the work, not the service's log; mails it keeps, since there is no mail server. */
function quietLog(mails: string[]): ServiceLog {
  return {
    info: () => undefined,
    mail: (message) => {
      mails.push(message);
      if (mails.length > 1) line("mail", message);
    },
    warn: (message) => line("warn", message),
    error: (message, details) => line("error", `${message} ${JSON.stringify(details)}`),
    served: () => undefined,
    failed: (requestId) => line("error", `request ${requestId} failed`),
  };
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
});
