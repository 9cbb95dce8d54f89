#!/usr/bin/env node
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { WebSocket } from "ws";
import { type Client, createClient, openStream } from "../client/entry.js";
import { readConfig } from "../process/config.js";
import { startService } from "../process/service.js";
import type { ServiceLog } from "../wire/service-log.js";

/** Matches a line that a change adds to the index of notes. */
const LISTED = /^\+- \[.*\]\(.*\.md\)$/m;
/** Matches the line before the second of two changes in a question to the judge. Each question has its own marker. */
const SECOND = /^[0-9a-f]{16,64} the second change/m;

import { CodeHost } from "./code-host/code-host.js";
import { CONFIG_SOURCE, type Configured, configure, workStation } from "./configuration.js";
import { type IssueWork, showIssue } from "./integrations.js";

import { showPick, writeConfig } from "./picks.js";
import { connectCodeHost, REPOSITORY, showPullRequest } from "./pull-requests.js";
import { type Received, startReceiver } from "./receiver.js";
import { BETTER, showReplays } from "./replays.js";
import { createRepository } from "./repository.js";
import { type AskedModel, type ScriptedAnswer, startScriptedModel } from "./scripted-model.js";
import { showSearch } from "./searches.js";
import { type Counts, line, Show } from "./show.js";
import { Tracker } from "./tracker.js";
import { asItShould, until } from "./until.js";

const taskTexts = [
  ["Why batches", "Say why turns are committed in batches."],
  ["Fencing tokens", "Say what a fence is for. (unlisted at first)"],
  ["Hook retries", "Say how hooks are retried. (says little at first)"],
  ["Leases", "Say what a lease is. (untitled at first)"],
  ["The change feed", "Say who reads the feed. (unlisted at first)"],
  ["Dead letters", "Say where they go. (unlisted at first)"],
  ["Wake-ups", "Say who sets them. (unlisted at first)"],
  ["Effects", "Say when they begin. (unlisted at first)"],
] as const;
/**
 * Number of tasks whose agents forget the index at first. It is high enough for a search to tell a better prompt from
 * chance.
 */
const FORGOTTEN = taskTexts.filter(([, text]) => text.includes("unlisted")).length;

const USAGE = `npm run demo -- [--exit]

Tasks are worked on in a temporary service, then one of their runs is replayed. Ctrl+C ends it at any time.

  --exit   ends when the work is done; without it the service stays up for looking around
  --help   says this`;

/** The model's prices per million tokens. */
const PRICES = JSON.stringify({ in: 2.5, out: 10, currency: "USD" });
/** Interval of the check whether the parent process is alive, in milliseconds. */
const PARENT_CHECK_MS = 500;
/** The exit code after Ctrl+C. */
const INTERRUPTED = 130;

const here = fileURLToPath(new URL(".", import.meta.url));

/** Functions that close the open parts, in the order in which the parts were opened. */
type Closing = (() => Promise<void>)[];

/** Thrown when a signal ends the demo. */
class Interrupted extends Error {}

/**
 * The whole product in one terminal: a service with its store in a temporary folder, a runner in a separate process, a
 * line of two stations over a real git repository, two hooks, and tasks that agents work on. An agent also works on a
 * tracker issue, with the tracker's tools, and its change becomes a pull request at a code host, which is merged. Then
 * one of the runs is replayed under a better prompt, and a pull request that plans this prompt is checked. A search
 * finds that prompt too; its best candidate is picked and becomes a pull request against the workspace's config.
 *
 * The demo leaves no process and no folder, also after Ctrl+C during the work. Only after SIGKILL does its folder stay.
 * If npm, its parent, is killed by SIGKILL, the demo ends as with Ctrl+C.
 */
async function main(): Promise<number> {
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => ending.abort(new Interrupted()));
  if (process.env.npm_lifecycle_event !== undefined) endWithParent(ending);
  const closing: Closing = [];
  try {
    const { values } = parseArgs({ options: { exit: { type: "boolean", default: false }, help: { type: "boolean" } } });
    if (values.help !== true) return await demonstrate(closing, ending, values);
    console.log(USAGE);
    return 0;
  } catch (error) {
    if (error instanceof Interrupted) return INTERRUPTED;
    console.error(`the demo failed: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/** Ends the demo if npm, its parent, is killed by SIGKILL. npm passes on all other signals. */
function endWithParent(ending: AbortController): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) ending.abort(new Interrupted());
  }, PARENT_CHECK_MS).unref();
}

/**
 * Runs the demo and resolves with exit code 0. Rejects with the abort reason if `ending` is aborted before the work is
 * done, and with `NotAsItShould` if a result is unexpected.
 */
async function demonstrate(closing: Closing, ending: AbortController, ends: { readonly exit: boolean }) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-demo-"));
  closing.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  const { baseUrl, cookie, client, receiver, tracker, codeHost, configured } = await prepare(folder, closing);
  const { teamId, poolToken } = configured;
  const runner = startRunner(baseUrl, poolToken, folder);
  closing.push(() => endRunner(runner));
  const lost = (code: number | null) => ending.abort(new Error(`the runner ended with ${code ?? "a signal"}`));
  runner.once("exit", lost);

  const stream = openStream({ baseUrl, cookie, open: (url, headers) => new WebSocket(url, { headers }) });
  closing.push(async () => stream.close());
  const show = new Show((topic) => void stream.subscribe(topic, (message) => show.handle(message)));
  stream.subscribe(`team/${teamId}`, (message) => show.handle(message));

  for (const [title, description] of taskTexts) {
    await client.post("/api/teams/{teamId}/tasks", { path: { teamId }, body: { title, description, line: "notes" } });
  }
  const firings = () => client.get("/api/teams/{teamId}/hook-occurrences", { path: { teamId }, query: { limit: 200 } });
  const areOver = async () => {
    const states = [...show.counts.states.values()];
    const attempting = (await firings()).items.filter(({ state }) => state === "attempting").length;
    const isOver = states.length === taskTexts.length && states.every((state) => state === "done" || state === "inbox");
    return isOver && attempting === 0 ? null : `they are ${states.join(", ")}; ${attempting} hooks are attempting`;
  };
  const { signal } = ending;
  await until("the tasks and their hooks were not over", areOver, signal);
  asItShould("the work on the tasks", summarise(show.counts, receiver.received, (await firings()).items.length));
  await connectCodeHost(client, codeHost, { baseUrl, repositories: [REPOSITORY, CONFIG_SOURCE.repository] });
  await writeConfig(client, configured, codeHost);
  const issue = asItShould("the issue of the tracker", await showIssue(client, configured, tracker, signal));
  const { taskId } = issue;
  asItShould("the pull request", await showPullRequest(client, configured, { codeHost, taskId }, signal));
  const setId = asItShould("the replays", await showReplays(client, configured, signal));
  asItShould("the check of the planned change", await showCheck(client, configured, setId, signal));
  const best = asItShould("the search", await showSearch(client, configured, signal));
  asItShould("the pick of the best", await showPick(client, configured, { codeHost, ...best }, signal));
  if (ends.exit) {
    line("demo", "all of it went as it should: the demo is done");
    return 0;
  }
  lookAround(baseUrl, configured, { ...issue, setId });
  runner.off("exit", lost);
  if (!ending.signal.aborted) await once(ending.signal, "abort");
  return 0;
}

/** Opens and configures everything except the runner. */
async function prepare(folder: string, closing: Closing) {
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  const receiver = await startReceiver(secret);
  closing.push(() => receiver.close());
  const tracker = await Tracker.start();
  closing.push(() => tracker.api.close());
  const repositories = join(folder, "repositories");
  const codeHost = await CodeHost.start(Date.now, repositories);
  closing.push(() => codeHost.close());
  const model = await startScriptedModel(judge);
  closing.push(() => model.close());
  const mails: string[] = [];
  const service = await startService({
    config: readConfig({
      DATA_DIR: join(folder, "data"),
      PORT: "0",
      OUTBOUND_ALLOW: `${receiver.url},${tracker.api.url}`,
      ...codeHost.settings,
      MODEL_URL: model.url,
      MODEL_NAME: "scripted",
      MODEL_PRICES: PRICES,
    }),
    log: quietLog(mails),
  });
  closing.push(() => service.stop());
  const { baseUrl } = service;
  line("demo", `the service listens on ${baseUrl}, its store is in ${folder}`);
  const repository = createRepository(process.cwd(), join(repositories, `${REPOSITORY}.git`));
  await codeHost.work.adopt(REPOSITORY);
  line("demo", `the repository ${REPOSITORY} is ${repository.from}, with ${repository.commits} commits`);
  const cookie = await signIn(baseUrl, mails);
  const client = createClient({ baseUrl, cookie });
  const configured = await configure(client, { url: receiver.url, secret });
  return { baseUrl, cookie, client, receiver, tracker, codeHost, configured };
}

/** Prints the results; returns whether they are as expected. */
function summarise(counts: Counts, received: Received, firings: number): boolean {
  const done = [...counts.states.values()].filter((state) => state === "done").length;
  const { verified, forged, vetoes } = received;
  const moved = `${counts.moves} moves, ${counts.sentBack} sent back by review`;
  line("demo", "");
  line("demo", `${done} of ${taskTexts.length} tasks done: ${counts.steps} steps, ${moved}`);
  line("demo", `${firings} hooks fired: ${verified} requests verified with standardwebhooks, ${forged} forged`);
  line("demo", `handovers refused by the before-hook: ${vetoes}`);
  return done === taskTexts.length && counts.sentBack === FORGOTTEN && vetoes === 1 && forged === 0;
}

function lookAround(
  baseUrl: string,
  { teamId, readToken }: Configured,
  { integrationId, runId, setId }: IssueWork & { readonly setId: string },
): void {
  line("demo", `the service stays up at ${baseUrl} until Ctrl+C; to look around:`);
  const team = ["tasks", "hook-occurrences", "replay-sets", "searches", `replay-sets/${setId}/replays`];
  const integration = ["deliveries", "action-runs"].map((list) => `integrations/${integrationId}/${list}`);
  for (const list of [...integration, `runs/${runId}/tool-calls`, ...team.map((of) => `teams/${teamId}/${of}`)]) {
    line("", `curl -H 'authorization: Bearer ${readToken}' ${baseUrl}/api/${list}`);
  }
}

function startRunner(url: string, token: string, folder: string): ChildProcess {
  const args = [
    join(here, "runner.js"),
    ...["--url", url, "--name", "demo", "--slots", "2", "--work-folder", join(folder, "runner")],
    ...["--git-url", join(folder, "repositories", "{name}.git")],
    ...["--command", process.execPath, join(here, "agent.js")],
  ];
  const env = { ...process.env, SIGNALBOX_POOL_TOKEN: token };
  // The runner has its own process group, so Ctrl+C reaches it only through this process. The runner's input pipe
  // closes when this process ends.
  return spawn(process.execPath, args, { env, stdio: ["pipe", "ignore", "inherit"], detached: true });
}

/** Ends the runner's input. The runner then stops, together with everything that it runs. */
async function endRunner(runner: ChildProcess): Promise<void> {
  runner.removeAllListeners("exit");
  if (runner.exitCode !== null || runner.signalCode !== null) return;
  const gone = once(runner, "exit");
  runner.stdin?.end();
  await gone;
}

/**
 * Returns a log that prints only warnings, errors, failed requests, and every mail after the first. It collects all
 * mails in `mails`, because there is no mail server.
 */
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

const PULL_REQUEST = 7;

/**
 * Checks the better prompt against the replay set and prints the verdict. Returns whether the verdict is as expected.
 */
async function showCheck(
  client: Client,
  { teamId, lineId }: Configured,
  setId: string,
  signal: AbortSignal,
): Promise<boolean> {
  await client.post("/api/teams/{teamId}/replay-sets/{setId}/guards-changes", { path: { teamId, setId } });
  const started = await client.post("/api/teams/{teamId}/replay-checks", {
    path: { teamId },
    body: {
      lineId,
      stationKey: workStation.key,
      station: BETTER.station,
      reference: { pullRequest: PULL_REQUEST },
    },
  });
  const read = () =>
    client.get("/api/teams/{teamId}/replay-checks/{checkId}", { path: { teamId, checkId: started.id } });
  const isOver = async () => ((await read()).verdict === "running" ? "it is running" : null);
  await until("the check of the planned change was not over", isOver, signal);
  const { verdict, tasks, regressions, gain } = await read();
  line(
    "check",
    `pull request #${PULL_REQUEST} plans that prompt: ${verdict}, ${regressions.length} of ${tasks} tasks regressed`,
  );
  return verdict === "passed" && gain?.gain === 1;
}

/**
 * Plays the judging model: a change passes if it lists its note in the index. Of two changes, the change that lists its
 * note is better.
 */
function judge({ messages, response_format }: AskedModel): ScriptedAnswer {
  const shown = messages.at(-1)?.content ?? "";
  const asked = response_format?.json_schema.schema.properties ?? {};
  return { value: "better" in Object(asked) ? comparePair(shown) : judgeChange(shown) };
}

function judgeChange(shown: string) {
  const passes = LISTED.test(shown);
  const text = passes ? "The note is listed in the index." : "The note is missing from the index.";
  return { reasons: [{ text, citations: [{ kind: "hunk", number: 1 }] }], passes };
}

function comparePair(shown: string) {
  const [first = "", second = ""] = shown.split(SECOND).map((part) => LISTED.test(part));
  const better = first === second ? "tie" : first ? "first" : "second";
  const text = better === "tie" ? "Both do as well." : `The ${better} change lists its note in the index.`;
  return { reasons: [{ text, firstHunks: [1], secondHunks: [1] }], better };
}

process.exit(await main());

/** Signs Ada in with the link that the service logged. Returns her session's cookie. */
async function signIn(baseUrl: string, mails: readonly string[]): Promise<string> {
  const client = createClient({ baseUrl });
  await client.post("/api/sign-in", { body: { email: "ada@example.com" } });
  const link = mails.findLast((mail) => mail.includes("ada@example.com"));
  if (link === undefined) throw new Error("no sign-in link was written");
  const token = link.slice(link.lastIndexOf("/") + 1);
  const { headers } = await client.send("post", "/api/sessions", { body: { token } });
  return headers.get("set-cookie")?.split(";")[0] ?? "";
}
