import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import { parseIdPrefix, pickId, toIdAfter } from "../command/id-prefix.js";
import { type NamedTeam, orNull } from "../command/names.js";
import { pickResource } from "../command/pick-resource.js";

/** A firing of a hook, as the history returns it. */
export type Firing = Schema<"HookOccurrence">;

/**
 * The id of a firing. It consists of the event's id and the end of the hook's id. A test or a resent firing has an id
 * of its own instead.
 */
const FIRING_ID = /^occ_[0-9A-Z]{26}(-[0-9A-Z]{8})?$/;

/**
 * Whether a text is the id of a firing or an event, or the beginning of such an id. The key of a hook never matches,
 * because keys contain no underscore.
 */
export function isOccurrence(text: string): boolean {
  return /^occ_/i.test(text);
}

/** Lists the hooks of a team. */
export async function listTeamHooks({ client, signal }: Context, team: NamedTeam): Promise<readonly Schema<"Hook">[]> {
  const path = { workspaceId: team.workspace.id };
  const { items } = await client.get("/api/resources/workspaces/{workspaceId}/hooks", { path, signal });
  return items.filter(({ teamId }) => teamId === team.id);
}

/** Finds a hook by its key, `<team>/<key>`, its id or a unique beginning of its id. Default: the team's only hook. */
export async function findHook(
  context: Context,
  name: string | undefined,
): Promise<{ readonly team: NamedTeam; readonly hook: Schema<"Hook"> }> {
  const [first = "", second] = (name ?? "").split("/");
  const team = await context.names.team(second === undefined ? undefined : first);
  const kind = {
    what: "hook",
    where: `the team ${team.key}`,
    key: ({ key }: Schema<"Hook">) => key,
    ifNone: "create one with signalbox hook create",
  };
  const hook = pickResource(
    kind,
    await listTeamHooks(context, team),
    name === undefined ? undefined : (second ?? first),
  );
  return { team, hook };
}

/** Finds a firing by its id or a unique id prefix. Default: the team's latest firing. */
export async function findFiring(
  context: Context,
  name: string | undefined,
): Promise<{ readonly team: NamedTeam; readonly firing: Firing }> {
  const team = await context.names.team();
  return { team, firing: name === undefined ? await getLatest(context, team) : await getNamed(context, team, name) };
}

async function getLatest({ client, signal }: Context, team: NamedTeam): Promise<Firing> {
  const path = { teamId: team.id };
  const { items } = await client.get("/api/teams/{teamId}/hook-occurrences", { path, query: { limit: 1 }, signal });
  const [latest] = items;
  if (latest === undefined) throw new CommandError(`no hook of the team ${team.key} has fired yet`);
  return latest;
}

async function getNamed(context: Context, team: NamedTeam, name: string): Promise<Firing> {
  const { client, signal } = context;
  const text = toId(name);
  const nowhere = `the team ${team.key} has no firing ${name}: signalbox hook log lists its firings, --team names another team`;
  const found = FIRING_ID.test(text) ? await readFiring(context, team, text) : null;
  if (found !== null) return found;
  const beginning = parseIdPrefix("occ", text.split("-")[0] ?? "");
  if (beginning === null) throw new CommandError(nowhere);
  const before = toIdAfter("occ", beginning);
  const { items } = await client.get("/api/teams/{teamId}/hook-occurrences", {
    path: { teamId: team.id },
    query: { limit: 200, ...(before === undefined ? {} : { before }) },
    signal,
  });
  const ids = items.map((item) => item.id);
  const id = pickId(text, ids);
  const picked = items.find((item) => item.id === id);
  if (picked === undefined) throw new CommandError(nowhere);
  return picked;
}

/** Reads a firing; null if the team has none with this id. */
export async function readFiring({ client, signal }: Context, team: NamedTeam, id: string): Promise<Firing | null> {
  const path = { teamId: team.id, id };
  return await orNull(client.get("/api/teams/{teamId}/hook-occurrences/{id}", { path, signal }));
}

/** Converts an id, or its beginning, to the service's spelling: `occ_` and upper case. */
export function toId(text: string): string {
  return text.toUpperCase().replace(/^(OCC_)?/, "occ_");
}
