import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Context } from "../command/context.js";
import { CommandError, type ExitCode } from "../command/exit-codes.js";
import { toJson } from "../command/printable.js";
import { checkPlan } from "./check-plan.js";
import type { CheckOptions } from "./command-line.js";
import { CouldNotAsk } from "./could-not-ask.js";
import { type Credential, fileProof, fixedToken, githubProof, sessionCookie, trustedToken } from "./credential.js";
import { Ending, signalCodes } from "./ending.js";
import { verdictText } from "./figures.js";
import { type Outcome, toVerdict, toWorst, verdictCodes } from "./outcome.js";
import { toLogLine, withoutSecrets } from "./plain-text.js";
import { writeProgress } from "./progress.js";
import { readPlan } from "./read-plan.js";
import { type Access, type CheckWish, readWish } from "./read-wish.js";
import { createRequests, Interrupted, type Requests } from "./requests.js";
import { checkPath } from "./run-checks.js";
import { Service } from "./service.js";
import { writeSummary } from "./summary.js";

/**
 * `signalbox check`: starts the replay checks of a planned change and waits for their verdicts. The exit code states
 * the result (`outcome.ts`). The command reports its own errors as "could not be asked", never as a failed change. It
 * prints no token.
 */

/** Maximum size of a plan, in bytes. */
const MAX_BYTES = 256 * 1024 ** 2;
/** Maximum length of a printed line, in characters. */
const MAX_CHARACTERS = 2_000;

interface Speech {
  readonly context: Context;
  /** The values that must not be printed. The list grows as tokens are exchanged. */
  secrets: () => readonly string[];
}

/** Prints a line of progress or of the result. Uses standard error if standard output has JSON. */
function say({ context: { terminal, isJson }, secrets }: Speech, line: string): void {
  const text = withoutSecrets(toLogLine(line, MAX_CHARACTERS), secrets());
  if (isJson) terminal.note(text);
  else terminal.print(text);
}

/**
 * Starts the checks of a plan and waits for their verdicts. Returns the exit code of the worst verdict, or of the
 * signal that ended the wait.
 */
export async function check(context: Context, options: CheckOptions, plan: string): Promise<ExitCode> {
  const wish = readWish(options, plan, context.terminal);
  const speech: Speech = { context, secrets: () => [] };
  const ending = new Ending(wish.timeLimitMs);
  try {
    const outcomes = await settle(wish, ending, speech);
    for (const outcome of outcomes) for (const line of listLines(outcome, wish.url)) say(speech, line);
    const worst = toWorst(outcomes);
    say(
      speech,
      outcomes.length === 0 ? "nothing to replay: the plan changes no work station" : `replay check: ${worst}`,
    );
    if (context.isJson) showJson(speech, { verdict: worst, outcomes });
    summarise(speech, wish.summary, writeSummary(outcomes, wish.url));
    return ending.signal === null ? verdictCodes[worst] : signalCodes[ending.signal];
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw new CommandError(withoutSecrets(text, speech.secrets()), verdictCodes["could not be asked"]);
  } finally {
    ending.end();
  }
}

function showJson({ context, secrets }: Speech, value: object): void {
  context.terminal.print(withoutSecrets(toJson(value, 2), secrets()));
}

/** Returns the outcomes. If an error affects the whole plan, that error is the only outcome. */
async function settle(wish: CheckWish, ending: Ending, speech: Speech): Promise<readonly Outcome[]> {
  const nowMs = () => Date.now();
  const wait = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => undefined);
  const log = (line: string) => say(speech, line);
  const requests = createRequests({ nowMs, wait, ended: ending.ended, log });
  const credential = toCredential(wish.access, requests, wish.url);
  speech.secrets = () => credential.hidden();
  const { workspace = null, team } = wish.access.kind === "session" ? speech.context.defaults : {};
  const service = new Service({ requests, url: wish.url, credential, workspace });
  const { stations, repeats, everyMs, job } = wish;
  const line = inTeam(wish.line, team);
  const attempt = job.attempt ?? randomUUID();
  const progress = writeProgress(log, nowMs);
  const whyEnded = () => ending.why ?? "";
  const { commit, pullRequest } = job;
  try {
    const lines = readPlan(await readText(speech.context, wish.file), wish.file === "-" ? "the plan" : wish.file);
    return await checkPlan(lines, {
      service,
      requests,
      line,
      stations,
      commit,
      pullRequest,
      repeats,
      attempt,
      everyMs,
      whyEnded,
      progress,
    });
  } catch (error) {
    if (!(error instanceof CouldNotAsk) && !(error instanceof Interrupted)) throw error;
    const why = error instanceof Interrupted ? whyEnded() : error.message;
    return [{ title: "the plan", what: "not-asked", why, check: null }];
  }
}

/**
 * Converts a line's key to its address in the selected team, if a team is selected. Returns an address, an id or null
 * unchanged.
 */
function inTeam(line: string | null, team: string | undefined): string | null {
  const isKey = line !== null && !line.includes("/") && !/^line_/.test(line);
  return isKey && team !== undefined ? `${team}/${line}` : line;
}

function toCredential(access: Access, requests: Requests, url: string): Credential {
  if (access.kind === "token") return fixedToken(access.token);
  if (access.kind === "session") return sessionCookie(access.cookie, url);
  const { trust } = access;
  const proof = access.kind === "file" ? fileProof(access.file) : githubProof({ requests, ...access });
  return trustedToken({ requests, url, trust, proof });
}

async function readText({ terminal }: Context, file: string): Promise<string> {
  try {
    const plan = file === "-" ? await terminal.readInput() : await readFile(resolve(terminal.folder, file));
    if (Buffer.byteLength(plan) > MAX_BYTES) throw new CouldNotAsk(`The plan is larger than ${MAX_BYTES} bytes.`);
    return plan.toString();
  } catch (error) {
    if (error instanceof CouldNotAsk) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : "it failed";
    throw new CouldNotAsk(`Cannot read the plan from ${file === "-" ? "standard input" : file}: ${code}.`);
  }
}

function listLines(outcome: Outcome, url: string): readonly string[] {
  const { title } = outcome;
  const check = "check" in outcome ? outcome.check : null;
  const where = check === null ? [] : [`${title}: read it at ${url}${checkPath(check)}`];
  if (outcome.what === "nothing-to-replay") return [`${title}: nothing to replay: ${outcome.why}`];
  if (outcome.what === "not-asked") return [`${title}: could not be asked: ${outcome.why}`, ...where];
  if (outcome.what === "still-running") {
    return [`${title}: ${toVerdict(outcome)}: ${outcome.why} The check continues.`, ...where];
  }
  const { check: ended } = outcome;
  const liveFields =
    ended.keptLive.length === 0 ? [] : [`${title}: kept at the live values: ${ended.keptLive.join(", ")}`];
  return [`${title}: ${verdictText(ended)}`, ...liveFields, ...where];
}

function summarise({ context, secrets }: Speech, file: string | null, text: string): void {
  if (file === null) return;
  try {
    appendFileSync(resolve(context.terminal.folder, file), withoutSecrets(text, secrets()));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "it failed";
    context.terminal.note(`cannot write the summary to ${file}: ${code}`);
  }
}
