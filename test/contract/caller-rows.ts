import type { Permission } from "../../actors/permission.js";

/**
 * The expected outcome of a caller's request:
 *
 * - `passes`: the request reaches the route's handler.
 * - A number: the service refuses the request with this status.
 * - `has-none`: the caller can see the resource, but the service answers 404. The answer says what the resource
 *   lacks, for example that the integration has no poll.
 */
export type Outcome = "passes" | "has-none" | 401 | 403 | 404;

/** The relation of a caller to the workspace of the request. */
export type CallerKind =
  | "owner"
  | "admin"
  /** A `teammate` is on the team. A `member` is on no team. */
  | "teammate"
  | "member"
  | "stranger"
  | { readonly scopes: readonly string[] }
  | "token of elsewhere"
  /** A caller that has no credential, or has a credential that the service does not accept. */
  | "nobody";

/**
 * Returns the expected outcome of a caller's request to one route. Rows follow the rules of the reference
 * documentation, and do not use the product's code.
 */
export type Row = (caller: CallerKind) => Outcome;

/** The permissions of members (`memberMay`) and of each scope (`scopeMay`), from the reference's tables. */
const memberMay: readonly Permission[] = ["read", "plan"];
const scopeMay: Readonly<Record<string, readonly Permission[]>> = {
  read: ["read"],
  plan: ["read", "plan"],
  configure: ["read", "plan", "configure"],
  secrets: ["read", "manage-secrets"],
  runners: ["read", "manage-runners"],
  trusts: ["read", "manage-token-trusts"],
  work: ["read", "work"],
};

interface Inside {
  readonly owner: Outcome;
  readonly admin: Outcome;
  readonly teammate: Outcome;
  readonly member: Outcome;
  readonly token: Outcome | ((scopes: readonly string[]) => Outcome);
}

/** Adds the outcomes of callers outside the workspace: 404 for a stranger, 401 without a credential. */
function row(inside: Inside): Row {
  return (caller) => {
    if (caller === "nobody") return 401;
    if (caller === "stranger") return 404;
    // A route that requires a signed-in user rejects a token before it looks up the resource.
    if (caller === "token of elsewhere") return inside.token === 401 ? 401 : 404;
    if (typeof caller === "string") return inside[caller];
    return typeof inside.token === "function" ? inside.token(caller.scopes) : inside.token;
  };
}

const leads = { owner: "passes", admin: "passes" } as const;

/**
 * Requires a permission that a token's scopes may grant. Callers who see the workspace but lack the permission get 403.
 */
const needs = (permission: Permission): Row => {
  const member = memberMay.includes(permission) ? "passes" : 403;
  const token = (scopes: readonly string[]) =>
    scopes.some((scope) => scopeMay[scope]?.includes(permission) === true) ? "passes" : 403;
  return row({ ...leads, teammate: member, member, token });
};
/** Requires `administer`, which no token has. */
const administers = row({ ...leads, teammate: 403, member: 403, token: 403 });
/** Visible only to the owner and admins. All other callers with a credential get 404. */
const leadsAlone = row({ ...leads, teammate: 404, member: 404, token: 404 });
/** Visible to the owner, admins, the team's members and tokens: the results of a team's work. */
const outcomes = row({ ...leads, teammate: "passes", member: 404, token: "passes" });
/**
 * Only for members of the task's team. The owner created the team, so the owner is a member. The admin is not a member.
 */
const teamWork = row({ owner: "passes", admin: 403, teammate: "passes", member: 403, token: 401 });
/** Like {@link teamWork}, and also for tokens that may open tasks. */
const opening: Row = (caller) =>
  typeof caller === "object" || caller === "token of elsewhere" ? needs("work")(caller) : teamWork(caller);
/** Like {@link teamWork}. A token may close only a task that it opened, and no token opened this task. */
const closing: Row = (caller) => (typeof caller === "object" ? 403 : opening(caller));
/** Only for the task's assignee. The assignee is the owner, who opened the task. */
const assignees = row({ owner: "passes", admin: 403, teammate: 403, member: 403, token: 401 });
/** Only for the assignee, on a resource that is visible only to callers who may read the team's results. */
const assigneesOfOutcomes = row({ owner: "passes", admin: 403, teammate: 403, member: 404, token: 401 });
/** The run has no pending approval, so team members get 404 before the assignee is checked. */
const nothingAsked = row({ owner: 404, admin: 403, teammate: 404, member: 404, token: 401 });
const people = row({ ...leads, teammate: "passes", member: "passes", token: 404 });
const leadPeople = row({ ...leads, teammate: 404, member: 404, token: 401 });
const read = needs("read");

const anyone: Row = () => "passes";
/** The handler accepts only a credential of another kind, which none of these callers has. */
const ownCredential: Row = () => 401;
const signedIn: Row = (caller) => {
  if (caller === "nobody") return 401;
  return typeof caller === "object" || caller === "token of elsewhere" ? 401 : "passes";
};
const anyCredential: Row = (caller) => (caller === "nobody" ? 401 : "passes");
const opensWorkspaces: Row = (caller) => {
  if (caller === "nobody") return 401;
  return typeof caller === "object" || caller === "token of elsewhere" ? 403 : "passes";
};
/** The resource does not exist, so every authenticated caller gets 404. */
const nothingThere: Row = (caller) => (caller === "nobody" ? 401 : 404);

interface KindRows {
  readonly plural: string;
  readonly heldBy: "workspace" | "team";
  readonly write: Row;
  readonly isExported?: false;
}

const configure = needs("configure");
const kinds: readonly KindRows[] = [
  { plural: "teams", heldBy: "workspace", write: configure },
  { plural: "lines", heldBy: "team", write: configure },
  { plural: "skills", heldBy: "team", write: configure },
  { plural: "harness-profiles", heldBy: "team", write: configure },
  { plural: "integrations", heldBy: "team", write: configure },
  { plural: "hooks", heldBy: "team", write: configure },
  { plural: "secrets", heldBy: "workspace", write: needs("manage-secrets") },
  { plural: "tokens", heldBy: "workspace", write: administers, isExported: false },
  { plural: "token-trusts", heldBy: "workspace", write: needs("manage-token-trusts") },
  { plural: "runner-pools", heldBy: "workspace", write: needs("manage-runners") },
  { plural: "runner-trusts", heldBy: "workspace", write: needs("manage-runners") },
  { plural: "workspace-runners", heldBy: "workspace", write: needs("manage-runners") },
];

function toRows({ plural, heldBy, write, isExported }: KindRows): Record<string, Row> {
  const one = `/api/resources/${plural}/{id}`;
  const all = `/api/resources/workspaces/{workspaceId}/${plural}`;
  return {
    [`POST ${heldBy === "team" ? `/api/resources/teams/{teamId}/${plural}` : all}`]: write,
    [`GET ${one}`]: read,
    [`PUT ${one}`]: write,
    [`DELETE ${one}`]: write,
    [`GET ${all}`]: read,
    [`GET ${all}/import`]: read,
    ...(isExported === false ? {} : { [`GET ${one}/hcl`]: read }),
  };
}

/** Visible to callers who may read results. A change also requires `plan`. */
const plansOutcomes: Row = (caller) => (outcomes(caller) === "passes" ? needs("plan")(caller) : outcomes(caller));

/** Visible to callers who may read results. These callers get 404, because the run belongs to no replay. */
const noReplayRun: Row = (caller) => (outcomes(caller) === "passes" ? 404 : outcomes(caller));

/** Visible to callers who may read results. These callers get 404, because the run belongs to no search. */
const noSearchRun = noReplayRun;

/** Visible to callers who may read results. The answer says that the integration has no poll. */
const noPoll: Row = (caller) => (outcomes(caller) === "passes" ? "has-none" : outcomes(caller));

/** Like {@link noPoll}, but the route changes the poll, so it also requires `configure`. */
const noPollToChange: Row = (caller) =>
  configure(caller) === 403 && outcomes(caller) === "passes" ? 403 : noPoll(caller);

/** The row of each route, by method and path. A route without a row fails the tests. */
export const callerRows: Readonly<Record<string, Row>> = {
  ...Object.assign({}, ...kinds.map(toRows)),
  "POST /api/resources/lines/{lineId}/stations/{stationKey}/replay-candidates": plansOutcomes,
  "GET /api/resources/replay-candidates/{id}": outcomes,
  "DELETE /api/resources/replay-candidates/{id}": plansOutcomes,
  "GET /api/resources/workspaces/{workspaceId}/replay-candidates": read,
  "GET /api/resources/workspaces/{workspaceId}/replay-candidates/import": outcomes,
  "POST /api/resources/workspaces": opensWorkspaces,
  "GET /api/resources/workspaces": anyCredential,
  "GET /api/resources/workspaces/import": read,
  "GET /api/resources/workspaces/{id}": read,
  "PUT /api/resources/workspaces/{id}": configure,
  "DELETE /api/resources/workspaces/{id}": administers,
  "GET /api/resources/workspaces/{id}/export": read,
  "GET /api/resources/workspaces/{id}/hcl": read,
  "GET /api/resources/token-trusts/{id}/refusals": needs("manage-token-trusts"),
  "GET /api/resources/runner-trusts/{id}/refusals": needs("manage-runners"),
  "GET /api/workspaces/{slug}/configuration-changes": leadsAlone,
  // These answers contain only what the caller may read.
  "GET /api/workspaces/{slug}/search": read,
  "GET /api/workspaces/{slug}/decisions": read,
  "GET /api/workspaces/{slug}/dead-letters": leadsAlone,
  "POST /api/workspaces/{slug}/dead-letters/{id}/retry": nothingThere,
  "GET /api/workspaces/{slug}/code-host": read,
  "POST /api/workspaces/{slug}/code-host/connections": administers,
  "DELETE /api/workspaces/{slug}/code-host/connections/{installationId}": administers,
  // Callers who may not configure get 404.
  "GET /api/workspaces/{slug}/code-host/connections/{installationId}/repositories": (caller) =>
    configure(caller) === 403 ? 404 : configure(caller),
  // The request's `state` belongs to none of these callers.
  "POST /api/code-host/confirmations": signedIn,
  "POST /api/code-host/deliveries": ownCredential,
  "POST /api/runs/{runId}/search-candidates": nothingThere,
  "POST /api/runs/{runId}/search-causes": nothingThere,
  "GET /api/runs/{runId}/search-files": nothingThere,
  "GET /api/runs/{runId}/search-files/{file}": nothingThere,
  "POST /api/runner/archives/{archiveId}": ownCredential,
  "PUT /api/runner/archives/{archiveId}/chunks/{n}": ownCredential,
  "GET /api/runner/archives/{archiveId}/chunks/{n}": ownCredential,
  // The integration has no poll.
  "GET /api/integrations/{integrationId}/poll": noPoll,
  "POST /api/integrations/{integrationId}/poll/now": noPollToChange,
  "PUT /api/integrations/{integrationId}/poll/cursor": noPollToChange,
  "GET /api/runner/attachments/{attachmentId}": ownCredential,
  "GET /code-host/callback": anyone,
  "GET /api/workspaces/{slug}/members": people,
  "PATCH /api/workspaces/{slug}/members/{userId}": row({ ...leads, teammate: 403, member: 403, token: 403 }),
  "DELETE /api/workspaces/{slug}/members/{userId}": row({ ...leads, teammate: 403, member: 403, token: 404 }),
  "POST /api/teams/{teamId}/members": administers,
  "DELETE /api/teams/{teamId}/members/{userId}": administers,
  "POST /api/workspaces/{slug}/invites": leadPeople,
  "GET /api/workspaces/{slug}/invites": leadPeople,
  "POST /api/workspaces/{slug}/invites/{inviteId}/resend": leadPeople,
  "DELETE /api/workspaces/{slug}/invites/{inviteId}": leadPeople,
  "GET /api/invites/{token}": anyone,
  // The invite's email address belongs to none of these callers.
  "POST /api/invites/{token}/accept": (caller) => (signedIn(caller) === 401 ? 401 : 403),
  "GET /api/workspaces/{slug}/runners": read,
  "GET /api/integrations/{integrationId}/connections": leadsAlone,
  "GET /api/integrations/{integrationId}/connections/me": row({
    ...leads,
    teammate: "passes",
    member: "passes",
    token: 401,
  }),
  "POST /api/integrations/{integrationId}/connections/team": administers,
  "DELETE /api/integrations/{integrationId}/connections/team": administers,
  "POST /api/integrations/{integrationId}/connections/me": teamWork,
  "DELETE /api/integrations/{integrationId}/connections/me": teamWork,
  "PUT /api/integrations/{integrationId}/connections/me/tools": teamWork,
  // Only the webhook's signature authenticates a sender. This integration has no webhook.
  "POST /api/integrations/{integrationId}/deliveries": () => 404,
  "GET /api/integrations/{integrationId}/deliveries": outcomes,
  "GET /api/integrations/{integrationId}/deliveries/{deliveryId}": outcomes,
  "POST /api/integrations/{integrationId}/deliveries/{deliveryId}/redeliver": (caller) =>
    caller === "member" ? 404 : configure(caller),
  "POST /api/integrations/{integrationId}/deliveries/redeliver": (caller) =>
    caller === "member" ? 404 : configure(caller),
  "POST /api/integrations/{integrationId}/deliveries/try": (caller) =>
    caller === "member" ? 404 : needs("plan")(caller),
  "GET /api/integrations/{integrationId}/action-runs": outcomes,
  "POST /api/integrations/{integrationId}/action-runs/{actionRunId}/resend": (caller) =>
    caller === "member" ? 404 : configure(caller),
  "GET /api/oauth/callback": anyone,
  "POST /api/oauth/callback": signedIn,
  "GET /api/teams/{teamId}/replay-sets": outcomes,
  "GET /api/teams/{teamId}/lines/{lineId}/stations/{stationId}/replay-sets": outcomes,
  "GET /api/teams/{teamId}/lines/{lineId}/stations/{stationId}/replayable-runs": outcomes,
  "POST /api/teams/{teamId}/lines/{lineId}/stations/{stationId}/replay-sets": plansOutcomes,
  "GET /api/teams/{teamId}/replay-sets/{setId}": outcomes,
  "GET /api/teams/{teamId}/replay-sets/{setId}/suggestions": outcomes,
  "PATCH /api/teams/{teamId}/replay-sets/{setId}": plansOutcomes,
  "DELETE /api/teams/{teamId}/replay-sets/{setId}": plansOutcomes,
  "POST /api/teams/{teamId}/replay-sets/{setId}/entries": plansOutcomes,
  // The set does not contain the run.
  "DELETE /api/teams/{teamId}/replay-sets/{setId}/entries/{runId}": (caller) =>
    plansOutcomes(caller) === "passes" ? 404 : plansOutcomes(caller),
  "POST /api/teams/{teamId}/replay-sets/{setId}/guards-changes": plansOutcomes,
  "DELETE /api/teams/{teamId}/replay-sets/{setId}/guards-changes": plansOutcomes,
  "POST /api/teams/{teamId}/replay-sets/{setId}/replays": plansOutcomes,
  "POST /api/teams/{teamId}/replays/{replayId}/stop": plansOutcomes,
  "GET /api/teams/{teamId}/replay-sets/{setId}/replays": outcomes,
  "GET /api/teams/{teamId}/replays/{replayId}": outcomes,
  "POST /api/teams/{teamId}/replay-checks": plansOutcomes,
  "GET /api/teams/{teamId}/replay-checks/{checkId}": outcomes,
  "GET /api/teams/{teamId}/replay-sets/{setId}/replay-checks": outcomes,
  "GET /api/teams/{teamId}/replayed-candidates": outcomes,
  "GET /api/teams/{teamId}/config-pull-requests/{pullRequestId}": outcomes,
  "GET /api/teams/{teamId}/lines/{lineId}/stations/{stationId}/searches": outcomes,
  "POST /api/teams/{teamId}/lines/{lineId}/stations/{stationId}/searches": plansOutcomes,
  "POST /api/teams/{teamId}/lines/{lineId}/stations/{stationId}/searches/estimate": outcomes,
  "GET /api/teams/{teamId}/searches": outcomes,
  "POST /api/teams/{teamId}/searches/{searchId}/stop": plansOutcomes,
  "POST /api/teams/{teamId}/searches/{searchId}/candidates/{candidateId}/pick": plansOutcomes,
  "GET /api/teams/{teamId}/searches/{searchId}": outcomes,
  "GET /api/teams/{teamId}/search-runs/{runId}": noSearchRun,
  "GET /api/teams/{teamId}/replay-runs/{runId}": noReplayRun,
  "GET /api/teams/{teamId}/replay-runs/{runId}/replay": noReplayRun,
  "GET /api/teams/{teamId}/runs/{runId}/config": noReplayRun,
  "GET /api/teams/{teamId}/pull-requests": outcomes,
  "GET /api/pull-requests/{id}": outcomes,
  "POST /api/pull-requests/{id}/retry": plansOutcomes,
  "POST /api/pull-requests/{id}/refresh": plansOutcomes,
  "POST /api/teams/{teamId}/tasks": opening,
  "GET /api/teams/{teamId}/tasks": read,
  "GET /api/tasks/{taskId}/attachments/{attachmentId}": nothingThere,
  "GET /api/tasks/{taskId}": read,
  // The task has no open question, so the assignee is not checked.
  "POST /api/tasks/{taskId}/answer": teamWork,
  "POST /api/tasks/{taskId}/stop": assignees,
  "POST /api/tasks/{taskId}/retry": teamWork,
  "POST /api/tasks/{taskId}/close": closing,
  "POST /api/tasks/{taskId}/move": teamWork,
  "POST /api/tasks/{taskId}/notes": opening,
  "POST /api/tasks/{taskId}/assign": teamWork,
  "GET /api/tasks/{taskId}/runs": outcomes,
  "GET /api/find/{id}": outcomes,
  "GET /api/inbox": anyCredential,
  // The request names a task that waits for no person, so the task is not in the inbox.
  "GET /api/inbox/{id}": nothingThere,
  "GET /api/runs/{runId}": outcomes,
  "GET /api/runs/{runId}/diff": outcomes,
  "POST /api/runs/{runId}/messages": assigneesOfOutcomes,
  "GET /api/runs/{runId}/approvals": outcomes,
  "GET /api/runs/{runId}/tool-calls": outcomes,
  "POST /api/runs/{runId}/approvals/{approvalId}/approve": nothingAsked,
  "POST /api/runs/{runId}/approvals/{approvalId}/edit": nothingAsked,
  "POST /api/runs/{runId}/approvals/{approvalId}/dismiss": nothingAsked,
  "GET /api/runs/{runId}/steps": outcomes,
  "GET /api/teams/{teamId}/hook-occurrences": outcomes,
  "GET /api/teams/{teamId}/hook-occurrences/{id}": outcomes,
  "POST /api/teams/{teamId}/hook-occurrences/{id}/resend": (caller) =>
    outcomes(caller) === "passes" ? configure(caller) : outcomes(caller),
  "POST /api/teams/{teamId}/hook-occurrences/resend": (caller) =>
    outcomes(caller) === "passes" ? configure(caller) : outcomes(caller),
  "POST /api/hooks/{hookId}/test": configure,
  "GET /api/teams/{teamId}/events": outcomes,
  "GET /api/teams/{teamId}/events/{occurrence}/hooks": outcomes,
  "GET /api/hook-callbacks/task": ownCredential,
  "POST /api/hook-callbacks/notes": ownCredential,
  "POST /api/workspace-tokens/exchange": ownCredential,
  "POST /api/runner-trusts/exchange": ownCredential,
  // This route is not about one workspace. A token must have `plan` in the workspace that it belongs to.
  "POST /api/expressions/check": (caller) =>
    caller === "nobody" ? 401 : typeof caller === "object" ? needs("plan")(caller) : "passes",
  "GET /api/expressions/positions": anyCredential,
  // The request's body names the workspace. This request names a workspace that does not exist.
  "POST /api/resources/dry-run": nothingThere,
  "POST /api/sign-in": anyone,
  "POST /api/sessions": ownCredential,
  "GET /api/sessions/me": signedIn,
  "PATCH /api/sessions/me": signedIn,
  "GET /api/approvals": signedIn,
  "DELETE /api/sessions": signedIn,
  "GET /sign-in/{token}": anyone,
  "GET /tasks/{taskId}": anyone,
  "GET /invites/{token}": anyone,
  "GET /api/.well-known/openid-configuration": anyone,
  "GET /api/.well-known/jwks.json": anyone,
  "GET /api/status": anyCredential,
  "GET /api/stream": anyCredential,
  "GET /healthz": anyone,
  "GET /readyz": anyone,
  "GET /metrics": anyone,
  "GET /api/openapi.json": anyone,
  "GET /": anyone,
  "GET /docs": anyone,
  "GET /docs/explorer.js": anyone,
  "GET /docs/page.js": anyone,
  "GET /runner.mjs": anyone,
  "GET /runner.mjs.sha256": anyone,
};
