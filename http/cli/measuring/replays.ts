import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError, type ExitCode, exitCodes } from "../command/exit-codes.js";
import { isNotFound, type NamedTeam, pickId } from "../command/names.js";
import { toAmount, toMoney } from "./figures.js";
import { listSets } from "./sets.js";
import { watch } from "./watch.js";

export type Replay = Schema<"Replay">;

/** A replay and its baseline, the replay that it is compared with. */
export interface ComparedReplay {
  readonly replay: Replay;
  /** The baseline; null if there is none, or if it is gone. */
  readonly baseline: Replay | null;
}

/** A complete id. It is used as it is; only the beginning of an id is looked up in a list. */
export const WHOLE_ID = /^[a-z]+_[0-9A-Z]{26}$/;

/** Finds the id of a replay by a unique beginning. Default: the folder's last replay. */
export async function findReplay(
  context: Context,
  name: string | undefined,
): Promise<{ readonly team: NamedTeam; readonly replayId: string }> {
  const team = await context.names.team();
  const wanted = name ?? context.defaults.replay;
  if (wanted === undefined) {
    throw new CommandError("no replay given, and none used in this folder yet: signalbox set show lists them");
  }
  const replayId = WHOLE_ID.test(wanted) ? wanted : pickId("replay", wanted, await listReplayIds(context, team));
  return { team, replayId };
}

async function listReplayIds(context: Context, team: NamedTeam): Promise<readonly string[]> {
  const { client, signal } = context;
  const found: string[] = [];
  for (const { id: setId } of await listSets(context, team)) {
    const path = { teamId: team.id, setId };
    const { items } = await client.get("/api/teams/{teamId}/replay-sets/{setId}/replays", { path, signal });
    found.push(...items.map(({ id }) => id));
  }
  return found;
}

/** Reads a replay and its baseline. */
export async function readCompared(context: Context, team: NamedTeam, replayId: string): Promise<ComparedReplay> {
  const replay = await readReplay(context, team, replayId);
  const other = replay.comparedWith?.replayId ?? replay.pairedWith ?? replay.baselineId;
  const baseline =
    other === null || other === replayId
      ? null
      : await readReplay(context, team, other).catch((error: unknown) => {
          if (isNotFound(error)) return null;
          throw error;
        });
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
