import type { Delivered, Turn } from "../../runtime/turn.js";
import type { LineFields } from "../lines/line.js";
import { type ChangeRecord, recordChange } from "../resources/change-record.table.js";
import { recordRequest } from "../resources/repeated-request.js";
import { findResource } from "../resources/resource.table.js";
import { type ConfigPullRequestRow, type OpeningRefusal, toBranch } from "./config-pull-request.js";
import type { CandidatePicked, PickCandidate } from "./config-pull-request.messages.js";
import { configPullRequests, findPullRequestOf } from "./config-pull-request.table.js";

type Picked = Delivered<PickCandidate>;

/** Begins to open it: the first pick makes its row, a pick after a refusal tries again with the line's source of now. */
export function beginOpening(event: Picked): CandidatePicked {
  const { turn, candidate } = event;
  const { partition, id } = turn.self;
  const line = findResource<LineFields>(turn, partition, "line", candidate.lineId)?.fields;
  const now = new Date(turn.now).toISOString();
  const before = findPullRequestOf(turn, partition, id) ?? null;
  const attempt = { state: "opening", reason: null, source: line?.source ?? null, updatedAt: now } as const;
  const row: ConfigPullRequestRow =
    before === null
      ? {
          ...{ id: turn.newId("cpr"), ...candidate, ...attempt, url: null },
          ...{ branch: toBranch(line?.key ?? candidate.lineId, candidate), attempts: 1, createdAt: now },
        }
      : { ...before, ...attempt, attempts: before.attempts + 1 };
  configPullRequests.put(turn, partition, before, row);
  turn.wake("open", turn.now);
  recordPick(event, row, before === null ? "created" : "updated");
  recordRequest(turn, event, row.id);
  return { pullRequest: row, isBegun: true, replayed: false };
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

/** The one that is opening or opened: another pick changes nothing. */
export function answerPicked(turn: Picked["turn"]): CandidatePicked {
  const pullRequest = findPullRequestOf(turn, turn.self.partition, turn.self.id);
  if (pullRequest === undefined) throw new Error(`the config pull request of ${turn.self.id} has no row`);
  return { pullRequest, isBegun: false, replayed: false };
}

/** Refuses it: the service has no way to commit to a repository yet. */
export function refuseOpening(turn: Turn): void {
  change(turn, ({ source }) => ({ state: "refused", reason: source === null ? noSource : noConnection }));
}

const byHand = { attribute: null, expression: null, wanted: null };

const noSource: OpeningRefusal = {
  code: "no-source",
  message:
    "The line names no source, and the service cannot commit to any repository yet: with a source the reason is " +
    "no-connection. Write the candidate's config into the line by hand.",
  ...byHand,
};

const noConnection: OpeningRefusal = {
  code: "no-connection",
  message:
    "The service cannot commit to the repository of the line's source. Write the candidate's config there by hand.",
  ...byHand,
};

export function noteOpened(turn: Turn, url: string): void {
  change(turn, () => ({ state: "opened", url }));
}

function change(turn: Turn, to: (row: ConfigPullRequestRow) => Partial<ConfigPullRequestRow>): void {
  const { partition, id } = turn.self;
  const row = findPullRequestOf(turn, partition, id);
  if (row === undefined) return;
  const updatedAt = new Date(turn.now).toISOString();
  configPullRequests.put(turn, partition, row, { ...row, ...to(row), updatedAt });
}

export function removePullRequest(turn: Turn): void {
  const { partition, id } = turn.self;
  const row = findPullRequestOf(turn, partition, id);
  if (row !== undefined) configPullRequests.remove(turn, partition, row);
  turn.stop();
}
