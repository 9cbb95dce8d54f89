import type { Reading } from "../../storage/store.js";
import { findUser } from "../access/accounts/session.queries.js";
import { invites } from "../access/invites/invite.table.js";
import { listWorkspacesOf } from "../access/members/workspace.queries.js";
import { findVisibleResource } from "../access/visibility/resource.queries.js";
import { permit, seesOutcomes } from "../access/visibility/visibility.js";
import type { Caller } from "../caller.js";
import { findStoredCheck } from "../checks/check.queries.js";
import { configPullRequests } from "../config-pull-requests/config-pull-request.table.js";
import { findTaskOfDecision } from "../decisions/decision.table.js";
import { findEvent } from "../events/event-log.queries.js";
import { findHookOccurrence } from "../hooks/hook-occurrence.table.js";
import { findInSteps, type InSteps } from "../in-steps.js";
import { findActionRun } from "../integration-work/actions/action-run.table.js";
import { deliveries } from "../integration-work/deliveries/delivery.table.js";
import type { LineFields } from "../lines/line.js";
import { findPullRequest } from "../pull-requests/pull-request.queries.js";
import { isRefusal } from "../refusal.js";
import { type MadeCandidateRow, madeCandidates } from "../replays/candidates/made-candidate.table.js";
import { replays } from "../replays/replay/replay.table.js";
import { replaySets } from "../replays/sets/replay-set.table.js";
import type { Kind } from "../resources/kind.js";
import { addressPages, type ResourceRow } from "../resources/resource.table.js";
import { findPartHolder, getTeamKey } from "../resources/resource-indexes.table.js";
import { runners } from "../runners/runner.table.js";
import { findVisibleRun } from "../runs/run.queries.js";
import { searches } from "../searches/search/search.table.js";
import { findInboxItem } from "../tasks/inbox.queries.js";
import { findTaskOfOutcomes, findVisibleTask } from "../tasks/task.queries.js";
import { findTaskOfAttachment } from "../tasks/task.table.js";
import { findRunOfCall } from "../tool-calls/tool-call.table.js";
import type { Member } from "../workspaces/member.js";
import { findMember, WORKSPACES_AT_ONCE } from "../workspaces/member.table.js";
import type { Page, Place } from "./place.js";

/** Finds the object with this id, in steps; undefined if there is none, or if the caller may not see it. */
type Find = (reading: Reading, caller: Caller, id: string) => InSteps<Place | undefined>;

/** Like {@link Find}, in one step. */
type FindAtOnce = (reading: Reading, caller: Caller, id: string) => Place | undefined;

/** The form of an id: the prefix of its kind, then text that can be a key in the store. */
const ID = /^([a-z]+)_[A-Za-z0-9_-]{1,100}$/;

/**
 * Creates a function that finds an object of any kind by its id, for callers who may read the object.
 *
 * The function finds objects of most kinds through the directory. The directory does not have kinds with very many
 * objects. The function looks up their rows by id in each of the caller's workspaces. If the keys of the rows start
 * with a team or an integration, it looks up the row under each team or integration. Each lookup is one read. The
 * lookups run in steps.
 */
export function createFindPlace(kinds: readonly Kind[]): Find {
  const finders = new Map<string, Find>(Object.entries(others));
  for (const kind of kinds) {
    const other = finders.get(kind.idPrefix) ?? inOneStep(() => undefined);
    finders.set(kind.idPrefix, function* find(reading, caller, id) {
      const row = findVisibleResource(kind, reading, caller, id);
      return isRefusal(row) ? yield* other(reading, caller, id) : toResourcePlace(kind, row);
    });
  }
  return function* findPlace(reading, caller, id) {
    const find = finders.get(ID.exec(id)?.[1] ?? "");
    return find && (yield* find(reading, caller, id));
  };
}

/** Kinds whose pages are addressed by keys. For these kinds, `under` is the address of the resource. */
const namedByKey: readonly string[] = ["team", "line"];

/** Returns the place of a resource. `under` is the collection, or the address if the page is addressed by keys. */
function toResourcePlace(kind: Kind, row: ResourceRow): Place {
  const { id, workspaceId, address, fields } = row;
  const teamId = kind.name === "team" ? id : row.teamId;
  return {
    kind: kind.name,
    id,
    workspaceId,
    teamId,
    title: kind.title?.(fields) ?? address,
    under: toUnder(kind, address),
  };
}

/**
 * Returns the `under` of a resource's page: the resource's address if the page is addressed by keys, otherwise the
 * plural of the kind.
 */
export function toUnder({ name, plural }: Pick<Kind, "name" | "plural">, address: string): string {
  return namedByKey.includes(name) ? address : plural;
}

/** Finders of the objects that are not resources, by the prefix of their ids. */
const others: Readonly<Record<string, Find>> = {
  task: inOneStep((reading, caller, id) => {
    const found = findVisibleTask(reading, caller, id);
    if (isRefusal(found)) return undefined;
    const { workspaceId, task } = found;
    return { kind: "task", id, workspaceId, teamId: task.teamId, title: task.title, under: "" };
  }),
  run: inOneStep(findRunPlace),
  *apr(reading, caller, id) {
    const found = yield* findInboxItem(reading, caller, id);
    if (isRefusal(found) || found.approval === null) return undefined;
    const { workspaceId, approval } = found;
    return { kind: "approval", id, workspaceId, teamId: approval.teamId, title: approval.tool, under: "" };
  },
  pr: inOneStep((reading, caller, id) => {
    const found = findPullRequest(reading, caller, id);
    if (isRefusal(found)) return undefined;
    const { workspaceId, row } = found;
    return { kind: "pull-request", id, workspaceId, teamId: row.teamId, title: row.title, under: "" };
  }),
  rset: ofTeam("replay-set", (reading, workspaceId, id) => replaySets.get(reading, workspaceId, id)),
  rep: ofTeam("replay", (reading, workspaceId, id) => replays.get(reading, workspaceId, id)),
  check: ofTeam("replay-check", findStoredCheck),
  srch: ofTeam("search", (reading, workspaceId, id) => searches.get(reading, workspaceId, id)),
  cpr: ofTeam("config-pull-request", (reading, workspaceId, id) => configPullRequests.get(reading, workspaceId, id)),
  occ: (reading, caller, id) =>
    findUnder(reading, caller, "team", (workspaceId, teamId) => {
      const isFiring = findHookOccurrence(reading, workspaceId, teamId, id) !== undefined;
      if (!isFiring && findEvent(reading, workspaceId, teamId, id) === undefined) return undefined;
      if (!seesOutcomes(reading, caller, workspaceId, teamId)) return undefined;
      return { kind: isFiring ? "hook-occurrence" : "event", id, workspaceId, teamId, under: teamId };
    }),
  dlv: ofIntegration("delivery", (reading, workspaceId, integrationId, id) =>
    deliveries.get(reading, workspaceId, integrationId, id),
  ),
  act: ofIntegration("action-run", findActionRun),
  cand: findMadeCandidate,
  sta: (reading, caller, id) =>
    findIn(reading, caller, (workspaceId) => {
      const line = findPartHolder(reading, workspaceId, id) as ResourceRow<LineFields> | undefined;
      if (line === undefined) return undefined;
      const title = line.fields.stations.find((station) => station.id === id)?.name ?? "";
      return { kind: "station", id, workspaceId, teamId: line.teamId, title, under: line.address };
    }),
  call: (reading, caller, id) =>
    findIn(reading, caller, (workspaceId) => {
      const shownOn = findRunPlace(reading, caller, findRunOfCall(reading, workspaceId, id) ?? "");
      return shownOn && { kind: "tool-call", id, workspaceId, teamId: shownOn.teamId, under: "", shownOn };
    }),
  att: (reading, caller, id) =>
    findIn(reading, caller, (workspaceId) => {
      const task = findTaskOfOutcomes(reading, caller, findTaskOfAttachment(reading, workspaceId, id) ?? "");
      if (isRefusal(task)) return undefined;
      const { id: taskId, teamId } = task.task;
      const shownOn = { kind: "task", id: taskId, under: "" };
      return { kind: "attachment", id, workspaceId, teamId, under: "", shownOn };
    }),
  dec: (reading, caller, id) =>
    findIn(reading, caller, (workspaceId) => {
      const found = findTaskOfDecision(reading, workspaceId, id);
      if (found === undefined || !seesOutcomes(reading, caller, workspaceId, found.teamId)) return undefined;
      const shownOn = { kind: "task", id: found.taskId, under: "" };
      return { kind: "decision", id, workspaceId, teamId: found.teamId, under: "", shownOn };
    }),
  runner: (reading, caller, id) =>
    findIn(reading, caller, (workspaceId) =>
      runners.get(reading, workspaceId, id) === undefined
        ? undefined
        : { kind: "runner", id, workspaceId, teamId: null, under: "" },
    ),
  *usr(reading, caller, id) {
    if (caller.kind !== "person") return undefined;
    return yield* findIn(reading, caller, (workspaceId) => {
      const member = findMember(reading, workspaceId, id);
      return member === undefined ? undefined : toPersonPlace(reading, workspaceId, member);
    });
  },
  *inv(reading, caller, id) {
    if (caller.kind !== "person") return undefined;
    return yield* findIn(reading, caller, (workspaceId) => {
      if (permit(reading, caller, workspaceId, "administer", "workspace") !== null) return undefined;
      const invite = invites.get(reading, workspaceId, id);
      return invite === undefined
        ? undefined
        : { kind: "invite", id, workspaceId, teamId: null, title: invite.email, under: "" };
    });
  },
};

/** Returns the place of a person. The title is the person's name, or the mail address if there is no name. */
export function toPersonPlace(reading: Reading, workspaceId: string, { userId, email }: Member): Place {
  const title = findUser(reading, userId)?.name || email;
  return { kind: "person", id: userId, workspaceId, teamId: null, title, under: "" };
}

function inOneStep(find: FindAtOnce): Find {
  return (reading, caller, id) => findInSteps([id], 1, () => find(reading, caller, id));
}

function findRunPlace(reading: Reading, caller: Caller, id: string): Place | undefined {
  const found = findVisibleRun(reading, caller, id);
  if (isRefusal(found)) return undefined;
  const { workspaceId, run } = found;
  // A replay's run has its team in the address of its page.
  const under = run.owner.kind === "replay" ? run.teamId : "";
  return { kind: "run", id, workspaceId, teamId: run.teamId, under };
}

/** Returns the first place that `find` finds in one of the caller's workspaces. */
function* findIn(
  reading: Reading,
  caller: Caller,
  find: (workspaceId: string) => Place | undefined,
): InSteps<Place | undefined> {
  return yield* findInSteps(yield* listWorkspacesOf(reading, caller), WORKSPACES_AT_ONCE, find);
}

/** Number of teams or integrations to look under in one step. */
const HOLDERS_AT_ONCE = 25;

/** Like {@link findIn}, but calls `find` for each team or integration of the workspaces. */
function* findUnder(
  reading: Reading,
  caller: Caller,
  holder: "team" | "integration",
  find: (workspaceId: string, holderId: string) => Place | undefined,
): InSteps<Place | undefined> {
  for (const workspaceId of yield* listWorkspacesOf(reading, caller)) {
    for (const page of addressPages(reading, workspaceId, holder, { limit: HOLDERS_AT_ONCE })) {
      for (const { id } of page) {
        const found = find(workspaceId, id);
        if (found !== undefined) return found;
      }
      yield;
    }
  }
  return undefined;
}

function ofTeam(
  kind: string,
  get: (reading: Reading, workspaceId: string, id: string) => { readonly teamId: string } | undefined,
): Find {
  return (reading, caller, id) =>
    findIn(reading, caller, (workspaceId) => {
      const row = get(reading, workspaceId, id);
      if (row === undefined || !seesOutcomes(reading, caller, workspaceId, row.teamId)) return undefined;
      return { kind, id, workspaceId, teamId: row.teamId, under: row.teamId };
    });
}

function ofIntegration(
  kind: string,
  get: (
    reading: Reading,
    workspaceId: string,
    integrationId: string,
    id: string,
  ) => { readonly teamId: string } | undefined,
): Find {
  return (reading, caller, id) =>
    findUnder(reading, caller, "integration", (workspaceId, integrationId) => {
      const row = get(reading, workspaceId, integrationId, id);
      if (row === undefined || !seesOutcomes(reading, caller, workspaceId, row.teamId)) return undefined;
      return { kind, id, workspaceId, teamId: row.teamId, under: integrationId };
    });
}

/**
 * Finds a candidate that the service created without a resource; undefined if there is none. The page of the
 * candidate's replay or search shows it.
 */
function findMadeCandidate(reading: Reading, caller: Caller, id: string): InSteps<Place | undefined> {
  return findIn(reading, caller, (workspaceId) => {
    const made = madeCandidates.get(reading, workspaceId, id);
    const replay = replays.get(reading, workspaceId, made?.replayId ?? "");
    const teamId = made?.teamId ?? replay?.teamId;
    if (made === undefined || teamId === undefined || !seesOutcomes(reading, caller, workspaceId, teamId)) {
      return undefined;
    }
    const shownOn = toCandidatePage(reading, { workspaceId, teamId, made });
    return { kind: "replay-candidate", id, workspaceId, teamId, under: "", shownOn };
  });
}

function toCandidatePage(
  reading: Reading,
  { workspaceId, teamId, made }: { workspaceId: string; teamId: string; made: MadeCandidateRow },
): Page {
  if (made.replayId !== null) return { kind: "replay", id: made.replayId, under: teamId };
  // Candidates of earlier releases do not store the id of their search. Return their team instead.
  if (made.searchId === undefined) return { kind: "team", id: teamId, under: getTeamKey(reading, workspaceId, teamId) };
  return { kind: "search", id: made.searchId, under: teamId };
}
