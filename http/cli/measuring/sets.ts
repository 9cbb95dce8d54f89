import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import { pickId } from "../command/id-prefix.js";
import type { NamedTeam } from "../command/names.js";
import { toCount } from "./figures.js";
import type { Place } from "./place.js";
import type { ChosenRuns } from "./runs.js";

type ReplaySet = Schema<"ReplaySet">;

/** A set in its team. */
export interface FoundSet {
  readonly team: NamedTeam;
  readonly set: ReplaySet;
}

/**
 * Finds a set by its name, its id or a unique prefix of the id. Default: the set that commands in this folder last
 * used, or the team's only set.
 */
export async function findSet(context: Context, name?: string): Promise<FoundSet> {
  const team = await context.names.team();
  const items = await listSets(context, team);
  const set = name === undefined ? findDefault(context, items) : findNamed(items, name);
  if (set === undefined) {
    const help = "signalbox set list shows the sets, and set add --new creates one";
    throw new CommandError(`there is no replay set ${name} in the team ${team.key}: ${help}`);
  }
  rememberSet(context, team, set.id);
  return { team, set };
}

/** Lists the sets of a team, newest first. */
export async function listSets({ client, signal }: Context, { id: teamId }: NamedTeam): Promise<readonly ReplaySet[]> {
  return (await client.get("/api/teams/{teamId}/replay-sets", { path: { teamId }, signal })).items;
}

/**
 * Finds a set in a list by its name, its id or a unique id prefix; undefined if no set matches. Throws a {@link
 * CommandError} if several sets match.
 */
export function findNamed(items: readonly ReplaySet[], name: string): ReplaySet | undefined {
  const called = items.filter((set) => set.name === name);
  if (called.length > 1) {
    throw new CommandError(`${called.length} sets are called ${name}: ${called.map(({ id }) => id).join(", ")}`);
  }
  const [only] = called;
  if (only !== undefined) return only;
  const ids = items.map(({ id }) => id);
  const picked = pickId(name, ids);
  return items.find(({ id }) => id === picked);
}

function findDefault({ defaults }: Context, items: readonly ReplaySet[]): ReplaySet {
  const [only, ...others] = items;
  const found = items.find(({ id }) => id === defaults.set) ?? (others.length === 0 ? only : undefined);
  if (found !== undefined) return found;
  const names = items.map(({ name }) => name).join(", ");
  throw new CommandError(
    only === undefined
      ? 'the team has no replay set: make one with signalbox set add --new "A name" last:20'
      : `name the replay set; there are: ${names}`,
  );
}

/** Makes a set the default of later commands. */
export function rememberSet(context: Context, team: NamedTeam, set: string): void {
  context.remember({ workspace: team.workspace.slug, team: team.key, set });
}

/**
 * Returns the id of the station's newest set of exactly these runs. Makes a set if there is none. An existing set is
 * preferred, so that its measurement of the live config is used again.
 */
export async function openSetOf(context: Context, place: Place, chosen: ChosenRuns): Promise<string> {
  const { client, signal } = context;
  const { path } = place;
  const wanted = [...chosen.runIds].sort().join();
  const { items } = await client.get("/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/replay-sets", {
    path,
    signal,
  });
  const same = items.find(
    ({ entries }) =>
      entries
        .map(({ runId }) => runId)
        .sort()
        .join() === wanted,
  );
  if (same !== undefined) return same.id;
  return openSet(context, place, toName(chosen), chosen.runIds);
}

/** Makes a set with these runs; returns its id. If the runs cannot be added, deletes the set again and throws. */
export async function openSet(
  { client, signal }: Context,
  { path }: Place,
  name: string,
  runIds: readonly string[],
): Promise<string> {
  const { id: setId } = await client.post("/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/replay-sets", {
    path,
    body: { name },
    signal,
  });
  const { teamId } = path;
  try {
    await client.post("/api/teams/{teamId}/replay-sets/{setId}/entries", {
      path: { teamId, setId },
      body: { runIds },
      signal,
    });
  } catch (error) {
    await client.delete("/api/teams/{teamId}/replay-sets/{setId}", { path: { teamId, setId }, signal: null });
    throw error;
  }
  return setId;
}

/** Names a set by its runs, such as `20 runs until 2026-11-28 14:05`. */
function toName({ runIds, newestAt }: ChosenRuns): string {
  const until = newestAt === null ? String(runIds[0]) : newestAt.slice(0, 16).replace("T", " ");
  return `${toCount(runIds.length, "run")} until ${until}`;
}
