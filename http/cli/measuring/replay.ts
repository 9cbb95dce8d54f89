import type { Context } from "../command/context.js";
import { CommandError, type ExitCode, exitCodes } from "../command/exit-codes.js";
import type { NamedTeam } from "../command/names.js";
import { type CandidateOptions, createCandidate } from "./candidate.js";
import { type Money, toMoney } from "./figures.js";
import { findPlace, type PlaceOptions } from "./place.js";
import { toReplayLines } from "./replay-lines.js";
import { toSentence } from "./replay-sentence.js";
import { type ComparedReplay, findReplay, readCompared, toExitCode, waitForReplay } from "./replays.js";
import { chooseRuns } from "./runs.js";
import { findSet, openSetOf, rememberSet } from "./sets.js";

export interface ReplayOptions extends PlaceOptions, CandidateOptions {
  readonly runs?: readonly string[];
  readonly set?: string;
  readonly repeats: number;
  readonly ceiling?: Money;
  readonly withAnswer?: true;
  readonly wait: boolean;
}

/** Replays past runs under another config: makes or finds the set, creates the candidate, starts, and waits. */
export async function replay(context: Context, options: ReplayOptions): Promise<ExitCode> {
  const { ceiling, repeats } = options;
  if (ceiling === undefined)
    throw new CommandError("required option '--ceiling <money>' not specified", exitCodes.usage);
  const { team, setId, candidate } = await prepare(context, options);
  const started = await context.client.post("/api/teams/{teamId}/replay-sets/{setId}/replays", {
    path: { teamId: team.id, setId },
    body: { candidate, ceiling, repeats, oracle: options.withAnswer === true },
    // Null, so that an interruption does not abort this call. The command can then always name the replay that it
    // started.
    signal: null,
  });
  rememberSet(context, team, setId);
  context.remember({ replay: started.id });
  const { terminal } = context;
  for (const { text } of started.warnings) terminal.note(`${terminal.paint("yellow", "warning:")} ${text}`);
  if (started.baseline?.status === "starting") {
    terminal.note(`the live config is also replayed, within ${toMoney(started.baseline.ceiling)}`);
  }
  if (started.oracle !== null) {
    const within = toMoney(started.oracle.ceiling);
    terminal.note(`the live config is also replayed with the correct answers, within ${within}`);
  }
  if (options.wait) {
    const compared = await waitForReplay(context, team, started.id);
    show(context, compared);
    return toExitCode(compared.replay);
  }
  context.show({ ...started, setId }, () => [
    `started ${started.id}, within ${toMoney(started.ceiling)}`,
    `show the result with signalbox replay show ${started.id}`,
  ]);
  return exitCodes.done;
}

interface Prepared {
  readonly team: NamedTeam;
  readonly setId: string;
  readonly candidate: string;
}

/**
 * Finds or makes the set, and creates the candidate. If the set must be made, creates the candidate first, so that a
 * wrong proposal leaves no new set behind.
 */
async function prepare(context: Context, options: ReplayOptions): Promise<Prepared> {
  if (options.set !== undefined) {
    if (options.runs !== undefined || options.line !== undefined || options.station !== undefined) {
      throw new CommandError("a set has its own runs and station: give --set alone", exitCodes.usage);
    }
    const { team, set } = await findSet(context, options.set);
    const place = await findPlace(context, { line: set.lineId, station: set.stationId });
    return { team, setId: set.id, candidate: await createCandidate(context, place, options) };
  }
  const place = await findPlace(context, options);
  const chosen = await chooseRuns(context, place, options.runs);
  const candidate = await createCandidate(context, place, options);
  return { team: place.team, setId: await openSetOf(context, place, chosen), candidate };
}

/**
 * Shows a replay; by default, the replay that commands in this folder last used. `--wait` waits for the end of the
 * replay.
 */
export async function showReplay(
  context: Context,
  { wait }: { readonly wait?: true },
  name: string | undefined,
): Promise<ExitCode> {
  const { team, replayId } = await findReplay(context, name);
  const read = wait === true ? waitForReplay : readCompared;
  const compared = await read(context, team, replayId);
  context.remember({ workspace: team.workspace.slug, team: team.key, replay: replayId });
  show(context, compared);
  return wait === true ? toExitCode(compared.replay) : exitCodes.done;
}

function show(context: Context, compared: ComparedReplay): void {
  const { replay, baseline } = compared;
  const summary = toSentence(compared);
  const baselineCostPerRun = baseline?.totals.costPerRun ?? null;
  context.show({ summary, ...replay, baselineCostPerRun }, () => toReplayLines(context.terminal, compared));
}
