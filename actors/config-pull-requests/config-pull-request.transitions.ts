import type { Delivered, Turn } from "../../runtime/turns/turn.js";
import type { CodeHostConnection } from "../code-host/connection.js";
import { findReachingConnection } from "../code-host/connection.queries.js";
import type { LineFields } from "../lines/line.js";
import { findPullRequestLog, toNameNews } from "../pull-requests/pull-request-log.messages.js";
import { type ChangeRecord, recordChange } from "../resources/change-record.table.js";
import { recordRequest } from "../resources/repeated-request.js";
import { findResource } from "../resources/resource.table.js";
import { COMMIT_CONFIG, type MadeCommit } from "./commit.effects.js";
import { type ConfigPullRequestRow, type ConfigSource, type OpeningRefusal, toBranch } from "./config-pull-request.js";
import type { PickCandidate } from "./config-pull-request.messages.js";
import { configPullRequests, findPullRequestByCandidate } from "./config-pull-request.table.js";
import { OPEN_CONFIG_PULL_REQUEST, type OpenedConfig } from "./open.effects.js";

type Picked = Delivered<PickCandidate>;

/** The state of an opening between turns, in addition to the row. */
export interface OpeningContext {
  /** Number of tries of the current step, including the active one. Tries that hit the rate limit do not count. */
  readonly tries: number;
  /** Time of the pick that started this attempt, in milliseconds since 1970. */
  readonly pickedMs: number;
  /** The commit of this attempt; null until it exists. */
  readonly made: MadeCommit | null;
  /**
   * The latest commits of all attempts, newest last, at most {@link MAX_COMMITS}. The branch may point to one of them.
   */
  readonly commits: readonly string[];
}

/** The data for the next request to the code host. */
interface StepDue {
  readonly turn: Turn;
  readonly row: ConfigPullRequestRow;
  readonly source: ConfigSource;
  readonly connection: CodeHostConnection;
}

/** The state before the first request to the code host. */
export const notStarted: OpeningContext = { tries: 0, pickedMs: 0, made: null, commits: [] };

/** Maximum number of commits to remember. */
const MAX_COMMITS = 20;
const STEP = "open";

/**
 * Starts an opening. The first pick creates the row. A pick after a refusal tries again with the line's current source.
 */
export function beginOpening(event: Picked, { commits }: OpeningContext): OpeningContext {
  const { turn, candidate } = event;
  const { partition, id } = turn.self;
  const line = findResource<LineFields>(turn, partition, "line", candidate.lineId)?.fields;
  const now = new Date(turn.now).toISOString();
  const before = findPullRequestByCandidate(turn, partition, id) ?? null;
  const state = "opening" as const;
  const attempt = { state, reason: null, source: line?.source ?? null, waitsUntil: null, updatedAt: now };
  const row: ConfigPullRequestRow =
    before === null
      ? {
          ...begin(event, line?.key ?? candidate.lineId),
          ...candidate,
          ...attempt,
          url: null,
          attempts: 1,
          createdAt: now,
        }
      : { ...before, ...attempt, attempts: before.attempts + 1 };
  configPullRequests.put(turn, partition, before, row);
  turn.wake(STEP, turn.now);
  recordPick(event, row, before === null ? "created" : "updated");
  recordRequest(turn, event, row.id);
  turn.reply({ pullRequest: row, isBegun: true, replayed: false });
  return { ...notStarted, commits, pickedMs: turn.now };
}

function begin({ turn, candidate }: Picked, lineKey: string): Pick<ConfigPullRequestRow, "id" | "branch"> {
  const id = turn.newId("cpr");
  return { id, branch: toBranch({ lineKey, id, ...candidate }) };
}

function recordPick({ turn, caller, client }: Picked, row: ConfigPullRequestRow, action: ChangeRecord["action"]): void {
  const { id, teamId, searchId, candidateId, candidateName, branch, attempts } = row;
  const change = { resource: "config-pull-request", resourceId: id, key: branch, action };
  recordChange(
    turn,
    { ...change, caller, client, details: { searchId, candidateId, candidateName, attempts } },
    teamId,
  );
}

/** Replies to a further pick with the existing pull request, and changes nothing. */
export function answerPicked({ turn }: Picked): void {
  const pullRequest = findPullRequestByCandidate(turn, turn.self.partition, turn.self.id);
  if (pullRequest === undefined) throw new Error(`the config pull request of ${turn.self.id} has no row`);
  turn.reply({ pullRequest, isBegun: false, replayed: false });
}

/** Requests the commit from the code host. */
export function askForCommit({ turn, ...due }: StepDue, context: OpeningContext): OpeningContext {
  change(turn, { waitsUntil: null });
  const { path } = due.source;
  turn.start(COMMIT_CONFIG.request(turn.newId("commit"), { ...toPlace(due), path, made: context.commits }));
  return { ...context, tries: context.tries + 1 };
}

/**
 * Stores the commit before any branch points to it. Then requests the branch and the pull request from the code host.
 */
export function takeCommit(event: StepDue & { readonly made: MadeCommit }, context: OpeningContext): OpeningContext {
  const { made } = event;
  const commits = [...context.commits.filter((one) => one !== made.commit), made.commit].slice(-MAX_COMMITS);
  return askToOpen(event, { ...context, made, commits, tries: 0 });
}

export function askToOpen({ turn, ...due }: StepDue, context: OpeningContext): OpeningContext {
  const { made, pickedMs: sinceMs } = context;
  if (made === null) throw new Error("a config pull request that is opened before its commit is made");
  change(turn, { waitsUntil: null });
  turn.start(OPEN_CONFIG_PULL_REQUEST.request(turn.newId("open"), { ...toPlace(due), ...made, sinceMs }));
  return { ...context, tries: context.tries + 1 };
}

/** Returns the repository, the installation that reaches it, and the row's members that the effects need. */
function toPlace({ row, source, connection }: Omit<StepDue, "turn">) {
  const { host, installationId } = connection;
  const { teamId, searchId, candidateId, candidateName, lineId, stationId, stationKey, branch } = row;
  const of = { teamId, searchId, candidateId, candidateName, lineId, stationId, stationKey, branch };
  return { host, installationId, repository: source.repository, row: of };
}

/** Schedules a retry of the step. */
export function tryLater(turn: Turn, untilMs: number): void {
  turn.wake(STEP, untilMs);
}

/**
 * Waits until the code host's rate limit ends. The limited request does not count as a try. The row shows the end of
 * the wait.
 */
export function waitForLimit(turn: Turn, context: OpeningContext, untilMs: number): OpeningContext {
  change(turn, { waitsUntil: new Date(untilMs).toISOString() });
  tryLater(turn, untilMs);
  return { ...context, tries: context.tries - 1 };
}

export function noteRefused(turn: Turn, reason: OpeningRefusal): void {
  change(turn, { state: "refused", reason, waitsUntil: null });
}

export function noteOpened(turn: Turn, { url, named }: OpenedConfig): void {
  change(turn, { state: "opened", url, waitsUntil: null });
  reportName(turn, named);
}

/**
 * Reports the repository's current name to the repository's pull request log, if the line's source uses another name.
 */
function reportName(turn: Turn, named: OpenedConfig["named"]): void {
  const { partition, id } = turn.self;
  const askedAs = findPullRequestByCandidate(turn, partition, id)?.source?.repository;
  const connection = askedAs === undefined ? undefined : findReachingConnection(turn, partition, askedAs);
  if (named === undefined || askedAs === undefined || connection === undefined) return;
  if (named.repository.toLowerCase() === askedAs.toLowerCase()) return;
  const { host, installationId } = connection;
  const shown = { host, installationId, ...named };
  const nameNews = toNameNews(turn, partition, { ...shown, askedAs });
  if (nameNews !== null) turn.send(findPullRequestLog(turn, partition, { ...shown, repository: askedAs }), nameNews);
}

/**
 * Applies `to` to the row if `to` has a state, or if its end of the wait differs from the row's. Otherwise does
 * nothing.
 */
function change(turn: Turn, to: Partial<ConfigPullRequestRow>): void {
  const { partition, id } = turn.self;
  const row = findPullRequestByCandidate(turn, partition, id);
  if (row === undefined) return;
  const isWaiting = (row.waitsUntil ?? null) !== (to.waitsUntil ?? null);
  if (to.state === undefined && !isWaiting) return;
  configPullRequests.put(turn, partition, row, { ...row, ...to, updatedAt: new Date(turn.now).toISOString() });
}

export function removePullRequest(turn: Turn): void {
  const { partition, id } = turn.self;
  const row = findPullRequestByCandidate(turn, partition, id);
  if (row !== undefined) configPullRequests.remove(turn, partition, row);
  turn.stop();
}
