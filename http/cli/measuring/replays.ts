import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError, type ExitCode, exitCodes } from "../command/exit-codes.js";
import { parseIdPrefix, pickId } from "../command/id-prefix.js";
import { type NamedTeam, orNull } from "../command/names.js";
import { toAmount, toMoney } from "./figures.js";
import { listSets } from "./sets.js";
import { watch } from "./watch.js";

export type Replay = Schema<"Replay">;

/** A replay and its baseline, the replay that it is compared with. */
export interface ComparedReplay {
  readonly replay: Replay;
  /** The baseline; null if there is none, or if it no longer exists. */
  readonly baseline: Replay | null;
}

/**
 * Finds a replay by its id or a unique id prefix. The default is the first of these that exists:
 *
 * 1. the replay that commands in this folder last used
 * 2. the team's newest replay of a proposed candidate
 * 3. the team's newest replay
 */
export async function findReplay(
  context: Context,
  name: string | undefined,
): Promise<{ readonly team: NamedTeam; readonly replayId: string }> {
  const team = await context.names.team();
  return { team, replayId: name === undefined ? await findLast(context, team) : await findNamed(context, team, name) };
}

async function findNamed(context: Context, team: NamedTeam, name: string): Promise<string> {
  const prefix = parseIdPrefix("rep", name);
  if (prefix?.isWhole === true) return prefix.text;
  const ids = (await listReplays(context, team)).map(({ id }) => id);
  const picked = pickId(name, ids);
  if (ids.includes(picked)) return picked;
  throw new CommandError(`the team ${team.key} has no replay ${name}: signalbox set show lists those of a set`);
}

/**
 * Finds the replay that commands in this folder last used. If there is none, or if it was deleted, finds the team's
 * newest replay of a proposed candidate, or else the team's newest replay.
 */
async function findLast(context: Context, team: NamedTeam): Promise<string> {
  const { replay: last } = context.defaults;
  if (last !== undefined) {
    if ((await orNull(readReplay(context, team, last))) !== null) return last;
    context.remember({ replay: undefined });
  }
  const listed = (await listReplays(context, team)).toSorted((one, other) => (one.id < other.id ? 1 : -1));
  // Prefer the replay of a proposed candidate. The team's newest replay may be a replay of the live config that was
  // started for the comparison.
  const newest = listed.find(({ candidate }) => candidate.kind === "proposed") ?? listed[0];
  if (newest !== undefined) return newest.id;
  throw new CommandError("no replay yet: start one with signalbox replay --prompt <file> --ceiling <money>");
}

async function listReplays(context: Context, team: NamedTeam): Promise<readonly Schema<"ReplayInAList">[]> {
  const { client, signal } = context;
  const found: Schema<"ReplayInAList">[] = [];
  for (const { id: setId } of await listSets(context, team)) {
    const path = { teamId: team.id, setId };
    const { items } = await client.get("/api/teams/{teamId}/replay-sets/{setId}/replays", { path, signal });
    found.push(...items);
  }
  return found;
}

/** Reads a replay and its baseline. */
export async function readCompared(context: Context, team: NamedTeam, replayId: string): Promise<ComparedReplay> {
  const replay = await readReplay(context, team, replayId);
  const other = replay.comparedWith?.replayId ?? replay.pairedWith ?? replay.baselineId;
  const baseline = other === null || other === replayId ? null : await orNull(readReplay(context, team, other));
  return { replay, baseline };
}

async function readReplay({ client, signal }: Context, team: NamedTeam, replayId: string): Promise<Replay> {
  return client.get("/api/teams/{teamId}/replays/{replayId}", { path: { teamId: team.id, replayId }, signal });
}

/** Waits until a replay has ended and is judged, and its baseline has ended. Prints progress to standard error. */
export async function waitForReplay(context: Context, team: NamedTeam, replayId: string): Promise<ComparedReplay> {
  return watch(context, {
    read: () => readCompared(context, team, replayId),
    progress: ({ replay, baseline }) => {
      const isBaselineOver = baseline === null || hasEnded(baseline);
      if (hasEnded(replay) && isBaselineOver) return `${toProgress(replay)}${replay.judged ? "" : ", being judged"}`;
      return [toProgress(replay), ...(isBaselineOver ? [] : [`live config ${toProgress(baseline)}`])].join("; ");
    },
    isOver: ({ replay, baseline }) => replay.judged && hasEnded(replay) && (baseline === null || hasEnded(baseline)),
    again: `the replay continues: show the result with signalbox replay show ${replayId}`,
  });
}

export function hasEnded({ state }: Pick<Replay, "state">): boolean {
  return state !== "queued" && state !== "running";
}

/** Formats the progress of a replay, such as `running: 3 of 24 copies, 0.12 of 2 USD, waits for a runner`. */
export function toProgress({ state, progress }: Pick<Replay, "state" | "progress">): string {
  const { settled, of, spent, ceiling, waiting } = progress;
  const copies = `${state}: ${settled} of ${of} copies, ${toAmount(spent.amount)} of ${toMoney(ceiling)}`;
  return waiting === null ? copies : `${copies}, waits for a ${waiting}`;
}

/** The exit code of a replay that has ended: 1 if it was stopped or reached its ceiling. */
export function toExitCode({ state }: Replay): ExitCode {
  return state === "stopped" || state === "over-budget" ? exitCodes.failed : exitCodes.done;
}
