import { writeJson } from "../../actors/exact-json.js";
import type { JudgingSetup } from "../../actors/lines/fingerprint.js";
import { findOther, readFigures, type SetTerms } from "../../actors/replays/figures/replay-figures.js";
import { listedReplayView, replayView } from "../../actors/replays/reads/replay.view.js";
import { getParts, readCopies, readReplayRows } from "../../actors/replays/reads/replay-parts.js";
import type { ListedReplayView, ReplayView } from "../../actors/replays/reads/replay-schemas.js";
import type { ReplayRow } from "../../actors/replays/replay/replay.js";
import type { ReplayMemory } from "../../actors/replays/replay/replay-memory.js";
import { whatItWaitsFor } from "../../actors/replays/replay/replay-waiting.js";
import type { Runtime } from "../../runtime/runtime.js";
import { toJsonList } from "../wire/bounded-list.js";
import { inPieces } from "../wire/page-reading.js";
import type { RouteRequest } from "../wire/route.js";

/** Number of copies to assemble between pauses: about 0.1 ms of work. */
const COPIES_AT_ONCE = 125;

/** The dependencies of replay responses. */
export interface ReplayReads {
  readonly runtime: Runtime;
  readonly judging: JudgingSetup;
  readonly memory: ReplayMemory;
}

/** The sources of one response. All rows of `view` are from one moment, although other work runs between the reads. */
export interface ReplayRead extends Pick<ReplayReads, "judging" | "memory">, Pick<RouteRequest, "pause" | "signal"> {
  readonly view: Runtime["reading"];
  /** The current rows, which may be newer than those of `view`. */
  readonly latest: Runtime["reading"];
  readonly nowMs: number;
}

/** Creates a response from the rows of one moment. */
export async function readAtOnce<Answered>(
  { runtime, judging, memory }: ReplayReads,
  { pause, signal }: Pick<RouteRequest, "pause" | "signal">,
  answer: (read: ReplayRead) => Promise<Answered>,
): Promise<Answered> {
  const view = runtime.view();
  try {
    return await answer({ view, latest: runtime.reading, pause, signal, judging, memory, nowMs: runtime.clock.now() });
  } finally {
    view.close();
  }
}

/** Reads a replay, as an object and as JSON. */
export async function readReplay(
  read: ReplayRead,
  terms: SetTerms,
  replay: ReplayRow,
): Promise<{ readonly body: ReplayView; readonly json: string }> {
  const { view, pause, memory, nowMs } = read;
  const { workspaceId } = terms;
  const { parts, waiting } = await readParts(read, workspaceId, replay);
  const counterpart = findOther(view, terms, replay);
  const other = counterpart === null ? [] : readCopies(view, workspaceId, counterpart.id);
  if (counterpart !== null) memory.learn(counterpart, other);
  await pause();
  const figures = readFigures(view, terms, replay, memory);
  await pause();
  const body = replayView(figures, { parts, other, baselineId: terms.baselineId, nowMs, waiting });
  await pause();
  const { entries, comparison, ...rest } = body;
  const lists = `"entries":${await toJsonList(entries, read)},"comparison":${await toJsonList(comparison, read)}`;
  return { body, json: `${writeJson(rest).slice(0, -1)},${lists}}` };
}

/** Reads a replay in the form used in lists. */
export async function readListedReplay(
  read: ReplayRead,
  terms: SetTerms,
  replay: ReplayRow,
): Promise<ListedReplayView> {
  const { view, pause, memory, nowMs } = read;
  const { parts, waiting } = await readParts(read, terms.workspaceId, replay);
  const figures = readFigures(view, terms, replay, memory);
  await pause();
  return listedReplayView(figures, { parts, nowMs, waiting });
}

/** Reads the parts of a replay: its copies, in the replay's order, and what the replay waits for. */
async function readParts({ view, latest, pause, memory }: ReplayRead, workspaceId: string, replay: ReplayRow) {
  const copies = readCopies(view, workspaceId, replay.id);
  memory.learn(replay, copies);
  await pause();
  const rows = readReplayRows(view, workspaceId, { replayId: replay.id });
  await pause();
  const parts = await inPieces(copies, { pause }, (copy) => getParts(rows, copy), COPIES_AT_ONCE);
  return { parts, waiting: whatItWaitsFor(latest, workspaceId, { replay, copies }) };
}
