import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError, exitCodes } from "../command/exit-codes.js";
import { parseIdPrefix, pickId } from "../command/id-prefix.js";
import { toCount } from "./figures.js";
import type { Place } from "./place.js";

type ReplayableRun = Schema<"ReplayableRun">;

/** The maximum number of runs in a set. */
const MOST_RUNS = 50;

/** The number of newest runs to use if the person names no runs. */
const USUAL_RUNS = 20;

/** Past runs of a station. They are sorted newest first, unless the command line names the runs. */
export interface ChosenRuns {
  readonly runIds: readonly string[];
  /** The end time of the newest run; null if it is not known. */
  readonly newestAt: string | null;
}

/**
 * Chooses past runs of a station. `words` are ids or unique beginnings of ids, separated by commas or spaces, or
 * `last:N` for the N newest runs that can be repeated. Default: `last:20`. Prints why newer runs cannot be repeated.
 */
export async function chooseRuns(context: Context, place: Place, words?: readonly string[]): Promise<ChosenRuns> {
  const named = (words ?? [`last:${USUAL_RUNS}`]).flatMap((word) => word.split(",")).filter((word) => word !== "");
  const { path } = place;
  const call = { path, signal: context.signal };
  const { items } = await context.client.get(
    "/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/replayable-runs",
    call,
  );
  const [first = "", ...others] = named;
  const last = /^last:(.*)$/.exec(first)?.[1];
  if (last !== undefined && others.length === 0) {
    const chosen = chooseLast(context, place, items, toLast(last));
    const count = chosen.runIds.length;
    if (words !== undefined && count < toLast(last)) {
      context.terminal.note(`the station has only ${toCount(count, "run")} to repeat`);
    }
    return chosen;
  }
  const ids = items.map(({ runId }) => runId);
  const runIds = [...new Set(named.map((word) => toRunId(place, word, ids)))];
  if (runIds.length === 0) throw new CommandError("name the runs: ids, or last:20", exitCodes.usage);
  const ends = items.filter(({ runId }) => runIds.includes(runId)).map(({ endedAt }) => endedAt);
  return { runIds, newestAt: ends[0] ?? null };
}

/** Returns the id of a run that has the id prefix `word`. A whole id need not be in the list. */
function toRunId({ address }: Place, word: string, listed: readonly string[]): string {
  const prefix = parseIdPrefix("run", word);
  if (prefix?.isWhole === true) return prefix.text;
  const picked = pickId(word, listed);
  if (listed.includes(picked)) return picked;
  throw new CommandError(
    prefix === null
      ? `${word} is not a run: name ids of runs, which signalbox task show lists, or last:N for the newest`
      : `the station ${address} has no ended run ${word}: signalbox task show lists the runs of a task`,
  );
}

function toLast(text: string): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= MOST_RUNS) return count;
  throw new CommandError(`last:N takes 1 to ${MOST_RUNS} runs`, exitCodes.usage);
}

function chooseLast(
  { terminal }: Context,
  { address }: Place,
  items: readonly ReplayableRun[],
  count: number,
): ChosenRuns {
  const chosen = items.filter(({ replayable }) => replayable).slice(0, count);
  const newest = chosen.length < count ? items : items.slice(0, items.indexOf(chosen[count - 1] as ReplayableRun) + 1);
  const reasons = newest.flatMap(({ refusal }) => (refusal === null ? [] : [refusal.reason]));
  const why = [...new Set(reasons)].join(" ");
  if (chosen.length === 0) {
    throw new CommandError(
      items.length === 0
        ? `the station ${address} has no ended runs: give it a task first, or name another with --line and --station`
        : `no run of the station ${address} can be repeated: ${why}`,
    );
  }
  if (reasons.length > 0) terminal.note(`${toCount(reasons.length, "newer run")} cannot be repeated: ${why}`);
  return { runIds: chosen.map(({ runId }) => runId), newestAt: chosen[0]?.endedAt ?? null };
}
