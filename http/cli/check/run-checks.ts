import { createHash } from "node:crypto";
import { type CheckAnswer, checkSchema, problemSchema } from "./check-answer.js";
import { CouldNotAsk } from "./could-not-ask.js";
import type { Outcome } from "./outcome.js";
import type { PlannedCheck } from "./planned-checks.js";
import type { Progress } from "./progress.js";
import { type Answered, Interrupted, type Requests } from "./requests.js";
import { refusal, type Service } from "./service.js";

export interface CheckRunOptions {
  readonly service: Service;
  readonly requests: Requests;
  readonly commit: string | null;
  readonly pullRequest: number | null;
  /** The number of replays of each run; null for the service's default. */
  readonly repeats: number | null;
  readonly attempt: string;
  /** The interval between reads of a check, in milliseconds. The first reads come sooner. */
  readonly everyMs: number;
  /** Returns why the command must end, as a sentence. Returns an empty string if the command may continue. */
  readonly whyEnded: () => string;
  readonly progress: Progress;
}

/** A check to start, with its name in messages. */
export interface TitledCheck {
  readonly title: string;
  readonly check: PlannedCheck;
}

/** The wait before the first read, in milliseconds. The wait doubles with each read, up to `everyMs`. */
const FIRST_LOOK_MS = 1_000;

const NOTHING_TO_REPLAY = "urn:service:problem:nothing-to-replay";

/** Starts the checks one after the other, and waits until each has its verdict or the command must end. */
export async function runChecks(
  planned: readonly TitledCheck[],
  options: CheckRunOptions,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const each of planned) {
    const outcome = await startCheck(each, options);
    options.progress.started(outcome);
    outcomes.push(outcome);
  }
  for (let looks = 0; outcomes.some(isRunning); looks++) {
    const waited = await settled(options.requests.wait(Math.min(FIRST_LOOK_MS * 2 ** looks, options.everyMs)));
    if (waited instanceof Interrupted) break;
    for (const [index, outcome] of outcomes.entries()) {
      if (!isRunning(outcome)) continue;
      const next = await readCheck(outcome, options);
      options.progress.moved(outcome, next);
      outcomes[index] = next;
    }
  }
  return outcomes.map((outcome) => (isRunning(outcome) ? { ...outcome, why: options.whyEnded() } : outcome));
}

type Running = Extract<Outcome, { readonly what: "still-running" }>;

function isRunning(outcome: Outcome): outcome is Running {
  return outcome.what === "still-running" && outcome.why === "";
}

async function startCheck({ title, check }: TitledCheck, options: CheckRunOptions): Promise<Outcome> {
  const { service, commit, pullRequest, repeats, attempt, whyEnded } = options;
  if (whyEnded() !== "")
    return { title, what: "not-asked", why: `${whyEnded()} The check was not started.`, check: null };
  const { teamId, lineId, stationKey, station, repositories } = check;
  const reference = { ...(commit === null ? {} : { commit }), ...(pullRequest === null ? {} : { pullRequest }) };
  const body = {
    lineId,
    stationKey,
    station,
    ...(repositories === null ? {} : { line: { repositories } }),
    ...(Object.keys(reference).length === 0 ? {} : { reference }),
    ...(repeats === null ? {} : { repeats }),
  };
  const key = toIdempotencyKey({ lineId, stationKey, commit, attempt });
  const answer = await settled(service.post(`${teamPath(teamId)}/replay-checks`, body, key));
  if (answer instanceof Interrupted) {
    return { title, what: "not-asked", why: `${whyEnded()} The check may have started.`, check: null };
  }
  if (answer instanceof CouldNotAsk) return { title, what: "not-asked", why: answer.message, check: null };
  const problem = problemSchema.safeParse(answer.body).data;
  if (answer.status === 409 && problem?.type === NOTHING_TO_REPLAY) {
    return { title, what: "nothing-to-replay", why: problem.detail };
  }
  if (answer.status !== 200 && answer.status !== 201) {
    return { title, what: "not-asked", why: refusal("The check was not started", answer).message, check: null };
  }
  return toOutcome(title, answer, null);
}

async function readCheck(outcome: Running, { service }: CheckRunOptions): Promise<Outcome> {
  const { title, check } = outcome;
  const answer = await settled(service.get(checkPath(check)));
  if (answer instanceof Interrupted) return outcome;
  const lost = (why: string): Outcome => ({ title, what: "not-asked", why: `The verdict was not read. ${why}`, check });
  if (answer instanceof CouldNotAsk) return lost(answer.message);
  return answer.status === 200 ? toOutcome(title, answer, check) : lost(refusal("The read failed", answer).message);
}

/** Converts a response to an outcome. `before` is the check as it was last read; null if this is the first read. */
function toOutcome(title: string, { body }: Answered, before: CheckAnswer | null): Outcome {
  const { data } = checkSchema.safeParse(body);
  if (data === undefined) {
    const why = "Unexpected response from the service. Check that the service and this command are the same release.";
    return { title, what: "not-asked", why, check: before };
  }
  // Keep the data that only the response to the start contains. A later read never says that the check was reused, and
  // may omit the warnings.
  const warnings = data.warnings.length === 0 && before !== null ? before.warnings : data.warnings;
  const check = { ...data, reused: data.reused || before?.reused === true, warnings };
  return check.verdict === "running"
    ? { title, what: "still-running", check, why: "" }
    : { title, what: "checked", check };
}

/** Returns the API path of a check. */
export function checkPath({ teamId, id }: CheckAnswer): string {
  return `${teamPath(teamId)}/replay-checks/${id}`;
}

function teamPath(teamId: string): string {
  return `/api/teams/${teamId}`;
}

/**
 * Awaits a promise. Returns its value. If the promise rejects with a {@link CouldNotAsk} or {@link Interrupted},
 * returns that error.
 */
async function settled<Value>(promise: Promise<Value>): Promise<Value | CouldNotAsk | Interrupted> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof CouldNotAsk || error instanceof Interrupted) return error;
    throw error;
  }
}

/** The values that identify one start of a check. */
interface CheckStart {
  readonly lineId: string;
  readonly stationKey: string;
  readonly commit: string | null;
  /** The option `--attempt`, the CI attempt, or a random id. */
  readonly attempt: string;
}

/** Returns the `Idempotency-Key` of a start. A retry of a start has the same key; another attempt has another key. */
function toIdempotencyKey({ lineId, stationKey, commit, attempt }: CheckStart): string {
  const parts = JSON.stringify([lineId, stationKey, commit, attempt]);
  return `replay-check-${createHash("sha256").update(parts).digest("hex")}`;
}
