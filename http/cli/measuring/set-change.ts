import { confirm } from "../command/ask.js";
import type { Context } from "../command/context.js";
import { CommandError, type ExitCode, exitCodes } from "../command/exit-codes.js";
import { toCount } from "./figures.js";
import { findPlace, type Place, type PlaceOptions } from "./place.js";
import { chooseRuns } from "./runs.js";
import { type FoundSet, findNamed, findSet, listSets, openSet, rememberSet } from "./sets.js";

export interface AddOptions extends PlaceOptions {
  readonly new?: true;
  readonly suggested?: true;
}

/** Adds runs to a set; with `--new`, makes the set first. */
export async function addToSet(
  context: Context,
  options: AddOptions,
  name: string,
  words: readonly string[],
): Promise<void> {
  if ((words.length === 0) === (options.suggested !== true)) {
    throw new CommandError("name the runs: ids or last:20, or give --suggested", exitCodes.usage);
  }
  if (options.new === true) return makeSet(context, options, name, words);
  const { team, set } = await findSet(context, name);
  const place = await findPlace(context, { line: set.lineId, station: set.stationId });
  const path = { teamId: team.id, setId: set.id };
  const chosen =
    options.suggested === true ? await listSuggested(context, path) : (await chooseRuns(context, place, words)).runIds;
  const present = new Set(set.entries.map(({ runId }) => runId));
  const runIds = chosen.filter((id) => !present.has(id));
  if (runIds.length > 0) {
    await context.client.post("/api/teams/{teamId}/replay-sets/{setId}/entries", {
      path,
      body: { runIds },
      signal: context.signal,
    });
  }
  show(context, { setId: set.id, name: set.name, added: runIds, total: present.size + runIds.length });
}

async function makeSet(context: Context, options: AddOptions, name: string, words: readonly string[]): Promise<void> {
  if (options.suggested === true) {
    throw new CommandError("suggestions balance runs that the set has: name the runs of a new set", exitCodes.usage);
  }
  const place: Place = await findPlace(context, options);
  const same = findNamed(await listSets(context, place.team), name);
  if (same !== undefined) throw new CommandError(`the set ${name} exists already: leave out --new`);
  const { runIds } = await chooseRuns(context, place, words);
  const setId = await openSet(context, place, name, runIds);
  rememberSet(context, place.team, setId);
  show(context, { setId, name, added: runIds, total: runIds.length });
}

interface Added {
  readonly setId: string;
  readonly name: string;
  readonly added: readonly string[];
  readonly total: number;
}

function show(context: Context, added: Added): void {
  const { setId, name, total } = added;
  const runs = added.added.length === 0 ? "no runs, it has them already" : toCount(added.added.length, "run");
  context.show(added, () => [`added ${runs} to ${name} (${setId}), which has ${total} now`]);
}

async function listSuggested(
  { client, signal }: Context,
  path: { readonly teamId: string; readonly setId: string },
): Promise<readonly string[]> {
  const { items } = await client.get("/api/teams/{teamId}/replay-sets/{setId}/suggestions", { path, signal });
  return items.map(({ runId }) => runId);
}

/** Makes a set guard the changes of its station. With `--off`, the set no longer guards them. */
export async function guardWithSet(
  context: Context,
  { off }: { readonly off?: true },
  name: string | undefined,
): Promise<void> {
  const found = await findSet(context, name);
  const { set } = found;
  const operation = "/api/teams/{teamId}/replay-sets/{setId}/guards-changes";
  const call = { path: toPath(found), signal: context.signal };
  const guardsChanges = off !== true;
  if (set.guardsChanges !== guardsChanges) {
    await (guardsChanges ? context.client.post(operation, call) : context.client.delete(operation, call));
  }
  context.show({ setId: set.id, name: set.name, guardsChanges }, () => [
    guardsChanges
      ? `${set.name} guards the changes of ${set.stationKey}: signalbox check replays it`
      : `${set.name} no longer guards the changes of ${set.stationKey}`,
  ]);
}

/** Deletes a set with its replays. Asks for confirmation if the set guards its station, unless `--yes` is given. */
export async function deleteSet(
  context: Context,
  { yes }: { readonly yes?: true },
  name: string,
): Promise<ExitCode | undefined> {
  const found = await findSet(context, name);
  const { set } = found;
  const isGiven = yes === true || !set.guardsChanges;
  const question = `${set.name} guards the changes of ${set.stationKey}. Delete it with its replays?`;
  if (!(await confirm(context.terminal, question, { isGiven, signal: context.signal }))) {
    context.terminal.note("the set was not deleted");
    return exitCodes.failed;
  }
  const call = { path: toPath(found), signal: context.signal };
  await context.client.delete("/api/teams/{teamId}/replay-sets/{setId}", call);
  context.remember({ set: undefined });
  context.show({ setId: set.id, name: set.name }, () => [`deleted ${set.name} (${set.id}) and its replays`]);
  return undefined;
}

function toPath({ team, set }: FoundSet) {
  return { teamId: team.id, setId: set.id };
}
