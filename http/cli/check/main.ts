import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { checkPlan } from "./check-plan.js";
import { type Access, type CheckWish, createCommandLine, readCommandLine } from "./command-line.js";
import { CouldNotAsk } from "./could-not-ask.js";
import { type Credential, fileProof, fixedToken, githubProof, trustedToken } from "./credential.js";
import { Ending, signalCodes } from "./ending.js";
import { verdictText } from "./figures.js";
import { exitCodes, type Outcome, toVerdict, toWorst } from "./outcome.js";
import { toLogLine, withoutSecrets } from "./plain-text.js";
import { writeProgress } from "./progress.js";
import { readPlan } from "./read-plan.js";
import { createRequests, Interrupted, type Requests } from "./requests.js";
import { checkPath } from "./run-checks.js";
import { Service } from "./service.js";
import { writeSummary } from "./summary.js";

/**
 * `signalbox check`: starts the replay checks of a planned change and waits for their verdicts. The exit code states
 * the result (`outcome.ts`). The program reports its own errors as "could not be asked", never as a failed change. It
 * prints no token.
 */

/** Maximum size of a plan, in bytes. */
const MAX_BYTES = 256 * 1024 ** 2;
/** Maximum length of a printed line, in characters. */
const MAX_CHARACTERS = 2_000;

/** Returns the values that must not be printed. The list grows as tokens are exchanged. */
let secrets: () => readonly string[] = () => [];

function say(line: string): void {
  console.log(withoutSecrets(toLogLine(line, MAX_CHARACTERS), secrets()));
}

async function main(): Promise<number> {
  const wish = readCommandLine(createCommandLine(), process.argv.slice(2), process.env);
  const ending = new Ending(wish.timeLimitMs);
  try {
    const outcomes = await settle(wish, ending);
    for (const outcome of outcomes) for (const line of listLines(outcome, wish.url)) say(line);
    const worst = toWorst(outcomes);
    say(outcomes.length === 0 ? "nothing to replay: the plan changes no work station" : `replay check: ${worst}`);
    summarise(wish.summary, writeSummary(outcomes, wish.url));
    return ending.signal === null ? exitCodes[worst] : signalCodes[ending.signal];
  } finally {
    ending.end();
  }
}

/** Returns the outcomes. If an error affects the whole plan, that error is the only outcome. */
async function settle(wish: CheckWish, ending: Ending): Promise<readonly Outcome[]> {
  const nowMs = () => Date.now();
  const wait = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => undefined);
  const requests = createRequests({ nowMs, wait, ended: ending.ended, log: say });
  const credential = toCredential(wish.access, requests, wish.url);
  secrets = () => credential.hidden();
  const service = new Service({ requests, url: wish.url, credential });
  const { line, stations, repeats, everyMs, job } = wish;
  const attempt = job.attempt ?? randomUUID();
  const progress = writeProgress(say, nowMs);
  const whyEnded = () => ending.why ?? "";
  const { commit, pullRequest } = job;
  try {
    const lines = readPlan(await readText(wish.file), wish.file === "-" ? "the plan" : wish.file);
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

function toCredential(access: Access, requests: Requests, url: string): Credential {
  if (access.kind === "token") return fixedToken(access.token);
  const { trust } = access;
  const proof = access.kind === "file" ? fileProof(access.file) : githubProof({ requests, ...access });
  return trustedToken({ requests, url, trust, proof });
}

async function readText(file: string): Promise<string> {
  try {
    const bytes = file === "-" ? await buffer(process.stdin) : await readFile(file);
    if (bytes.length > MAX_BYTES) throw new CouldNotAsk(`The plan is larger than ${MAX_BYTES} bytes.`);
    return bytes.toString("utf8");
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

function summarise(file: string | null, text: string): void {
  if (file === null) return;
  try {
    appendFileSync(file, withoutSecrets(text, secrets()));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "it failed";
    console.error(`cannot write the summary to ${file}: ${code}`);
  }
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(
      withoutSecrets(`error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`, secrets()),
    );
    process.exitCode = exitCodes["could not be asked"];
  },
);
