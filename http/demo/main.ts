#!/usr/bin/env node
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { WebSocket } from "ws";
import { createClient, openStream } from "../client/entry.js";
import { readConfig } from "../process/config.js";
import { startService } from "../process/service.js";
import type { ServiceLog } from "../wire/service-log.js";
import { showCheck } from "./checks.js";
import { CodeHost } from "./code-host/code-host.js";
import { CONFIG_SOURCE, configure } from "./configuration.js";
import { showIssue } from "./integrations.js";
import { judge } from "./judge.js";
import { type Mails, printSights, requestSignInLink } from "./look-around.js";
import { showPick, writeConfig } from "./picks.js";
import { endRunner, startRunner } from "./processes.js";
import { line, progress, startProgress } from "./progress.js";
import { connectCodeHost, REPOSITORY, showPullRequest } from "./pull-requests.js";
import { type Received, startReceiver } from "./receiver.js";
import { showReplays } from "./replays.js";
import { createRepository } from "./repository.js";
import { startScriptedModel } from "./scripted-model.js";
import { showSearch } from "./searches.js";
import { type Counts, Show } from "./show.js";
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
/** Number of tasks with `--short`; they include one of each kind of mistake. */
const SHORT_TASKS = 4;

const USAGE = `npm run demo -- [--short] [--exit]

Agents work on tasks in a temporary service. Then one of their runs is replayed, a planned change is checked, and an
agent searches for a better prompt. Takes one to two minutes. Ctrl+C ends it at any time.

  --short  without replays, check and search; takes about 20 seconds
  --exit   ends when the work is done; without it the service runs until Ctrl+C
  --help   show help`;

/** The model's prices per million tokens. */
const PRICES = JSON.stringify({ in: 2.5, out: 10, currency: "USD" });
/** Interval of the check whether the parent process is alive, in milliseconds. */
const PARENT_CHECK_MS = 500;
/** The exit code after Ctrl+C. */
const INTERRUPTED = 130;

/** Functions that close the open parts, in the order in which the parts were opened. */
type Closing = (() => Promise<void>)[];

/** Thrown when a signal ends the demo. */
class Interrupted extends Error {}

/**
 * The whole product in one terminal. The demo starts:
 *
 * - a service with its store in a temporary folder
 * - a runner in a separate process
 * - a line of two stations over a real git repository, with two hooks
 * - tasks that agents work on
 *
 * The demo then shows the following:
 *
 * 1. An agent works on a tracker issue with the tracker's tools. The agent's change becomes a pull request at a code
 *    host, which is merged.
 * 2. One of the runs is replayed under a better prompt. A pull request that plans this prompt is checked.
 * 3. A search finds that prompt too. Its best candidate is picked and becomes a pull request against the workspace's
 *    config.
 *
 * The demo leaves no process and no folder, also after Ctrl+C. Only after SIGKILL does its folder stay. If npm, the
 * demo's parent, is killed by SIGKILL, the demo ends as with Ctrl+C.
 */
async function main(): Promise<number> {
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => ending.abort(new Interrupted()));
  if (process.env.npm_lifecycle_event !== undefined) endWithParent(ending);
  const closing: Closing = [];
  try {
    const flag = { type: "boolean", default: false } as const;
    const { values } = parseArgs({ options: { short: flag, exit: flag, help: flag } });
    if (!values.help) return await demonstrate(closing, ending, values);
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

/**
 * Ends the demo if npm, its parent, is killed by SIGKILL. npm passes on all other signals. `DEMO_PARENT` is npm's process
 * id, because npm may end while its script still compiles the sources.
 */
function endWithParent(ending: AbortController): void {
  const parent = Number(process.env.DEMO_PARENT ?? process.ppid);
  setInterval(() => {
    if (process.ppid !== parent) ending.abort(new Interrupted());
  }, PARENT_CHECK_MS).unref();
}

interface DemoOptions {
  readonly short: boolean;
  readonly exit: boolean;
}

/**
 * Runs the demo and resolves with exit code 0. Rejects with {@link NotAsItShould} if a result is unexpected. If
 * `ending` is aborted before the work is done, rejects with the abort reason.
 */
async function demonstrate(closing: Closing, ending: AbortController, options: DemoOptions): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-demo-"));
  closing.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  const stopProgress = startProgress();
  const opened = await prepare(folder, closing);
  const { baseUrl, client, configured, codeHost, output } = opened;
  const runner = startRunner(baseUrl, configured.poolToken, folder);
  closing.push(() => endRunner(runner));
  const lost = (code: number | null) => ending.abort(new Error(`the runner ended with ${code ?? "a signal"}`));
  runner.once("exit", lost);
  closing.push(async () => {
    output.hidesWarnings = true;
  });

  const { signal } = ending;
  await showTasks(opened, options.short ? taskTexts.slice(0, SHORT_TASKS) : taskTexts, closing, signal);
  await connectCodeHost(client, codeHost, { baseUrl, repositories: [REPOSITORY, CONFIG_SOURCE.repository] });
  const issue = asItShould("the tracker issue", await showIssue(client, configured, opened.tracker, signal));
  const { taskId } = issue;
  asItShould("the pull request", await showPullRequest(client, configured, { codeHost, taskId }, signal));
  const searchId = options.short ? null : await showMeasuring(opened, signal);
  stopProgress();
  if (options.exit) {
    line("demo", "done: everything went as expected");
    return 0;
  }
  await printSights(client, output, { baseUrl, readToken: configured.readToken, ...issue, searchId });
  runner.off("exit", lost);
  if (!ending.signal.aborted) await once(ending.signal, "abort");
  return 0;
}

/** Shows replays, a check and a search, and picks the search's best candidate. Returns the search's id. */
async function showMeasuring({ client, configured, codeHost }: Opened, signal: AbortSignal): Promise<string> {
  await writeConfig(client, configured, codeHost);
  const setId = asItShould("the replays", await showReplays(client, configured, signal));
  asItShould("the check of the planned change", await showCheck(client, configured, setId, signal));
  const best = asItShould("the search", await showSearch(client, configured, signal));
  asItShould("the picked candidate", await showPick(client, configured, { codeHost, ...best }, signal));
  return best.searchId;
}

type TaskTexts = readonly (readonly [title: string, description: string])[];

/** Opens the tasks, prints what happens to them, and prints the results when all have ended. */
async function showTasks(
  { baseUrl, cookie, client, configured: { teamId }, receiver }: Opened,
  texts: TaskTexts,
  closing: Closing,
  signal: AbortSignal,
): Promise<void> {
  const stream = openStream({ baseUrl, cookie, open: (url, headers) => new WebSocket(url, { headers }) });
  closing.push(async () => stream.close());
  const show = new Show((topic) => void stream.subscribe(topic, (message) => show.handle(message)));
  stream.subscribe(`team/${teamId}`, (message) => show.handle(message));
  for (const [title, description] of texts) {
    await client.post("/api/teams/{teamId}/tasks", { path: { teamId }, body: { title, description, line: "notes" } });
  }
  const firings = () => client.get("/api/teams/{teamId}/hook-occurrences", { path: { teamId }, query: { limit: 200 } });
  const areOver = async () => {
    const states = [...show.counts.states.values()];
    const attempting = (await firings()).items.filter(({ state }) => state === "attempting").length;
    const over = states.filter((state) => state === "done" || state === "inbox").length;
    if (over === texts.length && attempting === 0) return null;
    return `tasks: ${over} of ${texts.length} done; ${attempting} hook deliveries in progress`;
  };
  await until("the tasks and their hook deliveries", areOver, signal);
  const firingCount = (await firings()).items.length;
  asItShould("the work on the tasks", summarise(show.counts, receiver.received, { texts, firingCount }));
}

type Opened = Awaited<ReturnType<typeof prepare>>;

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
  const output: Mails & Warnings = { texts: [], arePrinted: false, hidesWarnings: false };
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
    log: quietLog(output),
  });
  closing.push(() => service.stop());
  const { baseUrl } = service;
  line("demo", `the service listens on ${baseUrl}; its store is in ${folder}`);
  progress.set("the repository", "creating the repository and the workspace");
  const repository = createRepository(process.cwd(), join(repositories, `${REPOSITORY}.git`));
  await codeHost.work.adopt(REPOSITORY);
  line("demo", `the repository ${REPOSITORY} is ${repository.from}, with ${repository.commits} commits`);
  const cookie = await signIn(baseUrl, output);
  const client = createClient({ baseUrl, cookie });
  const configured = await configure(client, { url: receiver.url, secret });
  line("demo", "workspace acme has a line with the stations work and review, and two hooks");
  return { baseUrl, cookie, client, receiver, tracker, codeHost, configured, output };
}

/** Prints the results; returns whether they are as expected. */
function summarise(
  counts: Counts,
  { verified, forged, vetoes }: Received,
  { texts, firingCount }: { readonly texts: TaskTexts; readonly firingCount: number },
): boolean {
  const done = [...counts.states.values()].filter((state) => state === "done").length;
  const moved = `${counts.moves} moves, ${counts.sentBack} sent back by review`;
  line("demo", "");
  line("demo", `${done} of ${texts.length} tasks done: ${counts.steps} steps, ${moved}`);
  line("demo", `${firingCount} hook firings: ${verified} requests verified with standardwebhooks, ${forged} forged`);
  line("demo", `handovers refused by the before-hook: ${vetoes}`);
  const forgotten = texts.filter(([, text]) => text.includes("unlisted")).length;
  return done === texts.length && counts.sentBack === forgotten && vetoes === 1 && forged === 0;
}

interface Warnings {
  /** Whether the service's warnings are hidden, because the demo is ending. */
  hidesWarnings: boolean;
}

/** Returns a log that prints only warnings, errors, failed requests and, on request, mails. It collects all mails. */
function quietLog(output: Mails & Warnings): ServiceLog {
  return {
    info: () => undefined,
    mail: (message) => {
      output.texts.push(message);
      if (output.arePrinted) line("mail", message);
    },
    warn: (message) => void (output.hidesWarnings || line("warn", message)),
    error: (message, details) => line("error", `${message} ${JSON.stringify(details)}`),
    served: () => undefined,
    failed: (requestId) => line("error", `request ${requestId} failed`),
  };
}

/** Signs Ada in with the link that the service logged. Returns her session's cookie. */
async function signIn(baseUrl: string, mails: Mails): Promise<string> {
  const client = createClient({ baseUrl });
  const link = await requestSignInLink(client, mails);
  const token = link.slice(link.lastIndexOf("/") + 1);
  const { headers } = await client.send("post", "/api/sessions", { body: { token } });
  return headers.get("set-cookie")?.split(";")[0] ?? "";
}

process.exit(await main());
