import type { Permission } from "../../actors/permission.js";

/**
 * What a caller gets: let through to the work itself, or a refusal by its status; `has-none` for a 404 that says of what the
 * caller sees that it has none of these.
 */
export type Outcome = "passes" | "has-none" | 401 | 403 | 404;

/** Who a caller is to the workspace that a request is about. */
export type CallerKind =
  | "owner"
  | "admin"
  /** A member on the team, and one on none. */
  | "teammate"
  | "member"
  | "stranger"
  | { readonly scopes: readonly string[] }
  | "token of elsewhere"
  /** No credential, or one that admits nobody. */
  | "nobody";

/** A row: what each caller gets of a route. The rules are those of the reference, written down a second time. */
export type Row = (caller: CallerKind) => Outcome;

/** The reference's tables of roles and of scopes. */
const memberMay: readonly Permission[] = ["read", "plan"];
const scopeMay: Readonly<Record<string, readonly Permission[]>> = {
  read: ["read"],
  plan: ["read", "plan"],
  configure: ["read", "plan", "configure"],
  secrets: ["read", "manage-secrets"],
  runners: ["read", "manage-runners"],
  trusts: ["read", "manage-token-trusts"],
};

interface Inside {
  readonly owner: Outcome;
  readonly admin: Outcome;
  readonly teammate: Outcome;
  readonly member: Outcome;
  readonly token: Outcome | ((scopes: readonly string[]) => Outcome);
}

/** Someone outside finds nothing; who has no credential is told so. */
function row(inside: Inside): Row {
  return (caller) => {
    if (caller === "nobody") return 401;
    if (caller === "stranger") return 404;
    // A route of people asks a token for a person before it looks for anything.
    if (caller === "token of elsewhere") return inside.token === 401 ? 401 : 404;
    if (typeof caller === "string") return inside[caller];
    return typeof inside.token === "function" ? inside.token(caller.scopes) : inside.token;
  };
}

const leads = { owner: "passes", admin: "passes" } as const;

/** Needs a permission that a token's scopes may give; who sees the workspace but lacks it is told so. */
const needs = (permission: Permission): Row => {
  const member = memberMay.includes(permission) ? "passes" : 403;
  const token = (scopes: readonly string[]) =>
    scopes.some((scope) => scopeMay[scope]?.includes(permission) === true) ? "passes" : 403;
  return row({ ...leads, teammate: member, member, token });
};
/** Needs `administer`, which no token has. */
const administers = row({ ...leads, teammate: 403, member: 403, token: 403 });
/** For those who administer; to all others it is not there. */
const leadsAlone = row({ ...leads, teammate: 404, member: 404, token: 404 });
/** How a team's work turned out. */
const outcomes = row({ ...leads, teammate: "passes", member: 404, token: "passes" });
/** Work on a team's tasks, by its people. The owner made the team, so is on it; the admin is not. */
const teamWork = row({ owner: "passes", admin: 403, teammate: "passes", member: 403, token: 401 });
/** The assignee's alone: the task's is its opener, the owner. */
const assignees = row({ owner: "passes", admin: 403, teammate: 403, member: 403, token: 401 });
/** The same about what only those see who may read how the team's work turned out. */
const assigneesOfOutcomes = row({ owner: "passes", admin: 403, teammate: 403, member: 404, token: 401 });
/** The run asks for no leave, so nobody on the team gets as far as being the assignee. */
const nothingAsked = row({ owner: 404, admin: 403, teammate: 404, member: 404, token: 401 });
const people = row({ ...leads, teammate: "passes", member: "passes", token: 404 });
const leadPeople = row({ ...leads, teammate: 404, member: 404, token: 401 });
const read = needs("read");

const anyone: Row = () => "passes";
/** The credential is the handler's own and none of these callers has it. */
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
/** There is none to find, so all who are admitted get the same. */
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

function rowsOf({ plural, heldBy, write, isExported }: KindRows): Record<string, Row> {
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

/** Seen by those who read outcomes; changed by those of them who may plan. */
const plansOutcomes: Row = (caller) => (outcomes(caller) === "passes" ? needs("plan")(caller) : outcomes(caller));

/** Seen by those who read outcomes, who find that the run is of no replay. */
const noReplayRun: Row = (caller) => (outcomes(caller) === "passes" ? 404 : outcomes(caller));

/** Seen by those who read outcomes, who find that the run is of no search. */
const noSearchRun = noReplayRun;

/** Seen by those who read outcomes, who find that there is none. */
const noPoll: Row = (caller) => (outcomes(caller) === "passes" ? "has-none" : outcomes(caller));

/** Changed by those of them who configure. */
const noPollToChange: Row = (caller) =>
  configure(caller) === 403 && outcomes(caller) === "passes" ? 403 : noPoll(caller);

/** Every route's row, by method and path. A route without one fails the tests. */
export const callerRows: Readonly<Record<string, Row>> = {
  ...Object.assign({}, ...kinds.map(rowsOf)),
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
  // Each sees those of the teams whose outcomes they may read.
  "GET /api/workspaces/{slug}/decisions": read,
  "GET /api/workspaces/{slug}/dead-letters": leadsAlone,
  "POST /api/workspaces/{slug}/dead-letters/{id}/retry": nothingThere,
  "GET /api/workspaces/{slug}/code-host": read,
  "POST /api/workspaces/{slug}/code-host/connections": administers,
  "DELETE /api/workspaces/{slug}/code-host/connections/{installationId}": administers,
  // For those who configure; to all others it is not there.
  "GET /api/workspaces/{slug}/code-host/connections/{installationId}/repositories": (caller) =>
    configure(caller) === 403 ? 404 : configure(caller),
  // The state is of none of these.
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
  // The link's address is nobody's of these.
  "POST /api/invites/{token}/accept": (caller) => (signedIn(caller) === 401 ? 401 : 403),
  "GET /api/workspaces/{slug}/runners": read,
  "GET /api/integrations/{integrationId}/connections": leadsAlone,
  "GET /api/integrations/{integrationId}/connections/me": row({
    ...leads,
    ...{ teammate: "passes", member: "passes", token: 401 },
  }),
  "POST /api/integrations/{integrationId}/connections/team": administers,
  "DELETE /api/integrations/{integrationId}/connections/team": administers,
  "POST /api/integrations/{integrationId}/connections/me": teamWork,
  "DELETE /api/integrations/{integrationId}/connections/me": teamWork,
  "PUT /api/integrations/{integrationId}/connections/me/tools": teamWork,
  // Whoever may send to it is told by its signature alone; this one has no webhook.
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
  // The set has no run to take out.
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
  "POST /api/teams/{teamId}/tasks": teamWork,
  "GET /api/teams/{teamId}/tasks": read,
  "GET /api/tasks/{taskId}/attachments/{attachmentId}": nothingThere,
  "GET /api/tasks/{taskId}": read,
  // The task asks nothing, so nobody on the team gets as far as being its assignee.
  "POST /api/tasks/{taskId}/answer": teamWork,
  "POST /api/tasks/{taskId}/stop": assignees,
  "POST /api/tasks/{taskId}/retry": teamWork,
  "POST /api/tasks/{taskId}/close": teamWork,
  "POST /api/tasks/{taskId}/move": teamWork,
  "POST /api/tasks/{taskId}/notes": teamWork,
  "POST /api/tasks/{taskId}/assign": teamWork,
  "GET /api/tasks/{taskId}/runs": outcomes,
  "GET /api/runs/{runId}": outcomes,
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
  // About no workspace; a token needs plan in its own.
  "POST /api/expressions/check": (caller) =>
    caller === "nobody" ? 401 : typeof caller === "object" ? needs("plan")(caller) : "passes",
  "GET /api/expressions/positions": anyCredential,
  "POST /api/sign-in": anyone,
  "POST /api/sessions": ownCredential,
  "GET /api/sessions/me": signedIn,
  "GET /api/approvals": signedIn,
  "DELETE /api/sessions": signedIn,
  "GET /sign-in/{token}": anyone,
  "GET /tasks/{taskId}": anyone,
  "GET /invites/{token}": anyone,
  "GET /api/.well-known/openid-configuration": anyone,
  "GET /api/.well-known/jwks.json": anyone,
  "GET /healthz": anyone,
  "GET /readyz": anyone,
  "GET /metrics": anyone,
  "GET /api/openapi.json": anyone,
  "GET /": anyone,
  "GET /docs": anyone,
  "GET /docs/explorer.js": anyone,
};
