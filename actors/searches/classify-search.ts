import type { TurnReading, Woken } from "../../runtime/turn.js";
import { isRefusal, type Refusal } from "../refusal.js";
import type { ReplayJudging } from "../replays/judging/model-terms.js";
import type { ReplayMoved } from "../replays/replay.messages.js";
import { listCopies } from "../replays/replay-copy.table.js";
import { refusePlanner } from "../replays/replay-set.queries.js";
import { findRequestBefore } from "../resources/repeated-request.js";
import { type Measuring, measureEnds, measurePairs } from "./ended-figures.js";
import { planSteps } from "./plan-steps.js";
import { canPropose } from "./rules/decide-next.js";
import { type FailedTask, findFailedTasks, reflectionOutcome } from "./rules/reflection.js";
import { isSearchUnderWay, type SearchIterationRow, type SearchRow } from "./search.js";
import type { StartSearch, StopSearch } from "./search.messages.js";
import { getSearchInput, searches } from "./search.table.js";
import { listCandidates } from "./search-candidate.table.js";
import type { RowChange, SearchEvent, SearchIncoming } from "./search-events.js";
import { listIterations } from "./search-iteration.table.js";
import { type SearchScene, toPicture } from "./search-picture.js";
import { findIdleness, replaysOf, toIdleReplay } from "./search-replays.js";
import { prepareSearch } from "./start-search.js";

/** The wake-up at which a search goes on by itself. */
export const GO_ON = "go-on";

const OTHER: SearchEvent = { type: "search.other" };

/** The event of each message to a search; `judging` is what scores its replays. Reads only. */
export function classifySearch(judging: ReplayJudging) {
  return (message: SearchIncoming, _state: unknown, turn: TurnReading): SearchEvent => {
    const search = searches.get(turn, turn.self.partition, turn.self.id);
    switch (message.type) {
      case "search.start":
        return toStart(turn, message, judging);
      case "search.stop":
        return toStop(turn, search, message);
      case "search.forget":
        return message;
      case "replay.moved":
        return search === undefined ? OTHER : toMoved(turn, search, message, judging);
      case "woken":
        return search === undefined ? OTHER : toWoken(turn, search, message, judging);
      case "candidates.admitted":
      case "iteration.over":
      case "station.left":
        return search === undefined ? OTHER : toSteps(turn, search, judging);
      // No transition takes a message of an unknown type.
      default:
        return message;
    }
  };
}

function toStart(turn: TurnReading, message: StartSearch, judging: ReplayJudging): SearchEvent {
  const found = prepareSearch(turn, message, judging);
  if (found.outcome === "starts") return { ...message, type: "search.starts", start: found.start };
  if (found.outcome === "refused") return { type: "start.refused", refusal: found.refusal };
  return { type: "start.repeated", answer: found.answer };
}

function toStop(turn: TurnReading, search: SearchRow | undefined, message: StopSearch): SearchEvent {
  if (search === undefined) return { type: "stop.refused", refusal: notFound(turn) };
  const refusal = message.caller && refusePlanner(turn, message.caller, search.teamId);
  if (refusal !== null) return { type: "stop.refused", refusal };
  const before = findRequestBefore(turn, message);
  if (isRefusal(before)) return { type: "stop.refused", refusal: before };
  if (before !== null) return { type: "stop.repeated" };
  return isSearchUnderWay(search) ? message : { type: "stop.refused", refusal: ended };
}

const ended: Refusal = { refused: "conflict", detail: "The search has ended." };

function notFound(turn: TurnReading): Refusal {
  return { refused: "not-found", detail: `Search ${turn.self.id} not found.` };
}

function toMoved(
  turn: TurnReading,
  search: SearchRow,
  { replayId, what }: ReplayMoved,
  judging: ReplayJudging,
): SearchEvent {
  if (what === "settled") return OTHER;
  if (what !== "judged") return toSteps(turn, search, judging);
  const scene = readScene(turn, search);
  const before = scene.candidates.find((candidate) => replaysOf(candidate).includes(replayId));
  if (before === undefined || before.seed || before.replayEnded === null) return OTHER;
  return { type: "candidate.measured", change: { before, after: measurePairs(toMeasuring(turn, scene), before) } };
}

function toWoken(turn: TurnReading, search: SearchRow, { name }: Woken, judging: ReplayJudging): SearchEvent {
  const replayId = toIdleReplay(name);
  if (replayId === null) return toSteps(turn, search, judging);
  const found = isSearchUnderWay(search) ? findIdleness(turn, replayId) : null;
  if (found === null) return OTHER;
  return { type: "replay.looked-at", replayId, againMs: found === "idle" ? null : found };
}

/** What became of what the search waited for, and what it does next. */
function toSteps(turn: TurnReading, search: SearchRow, judging: ReplayJudging): SearchEvent {
  if (!isSearchUnderWay(search)) return OTHER;
  const scene = readScene(turn, search);
  const measured = measureScene(turn, scene);
  const reflected = closeReflection(turn, measured, judging);
  const picture = toPicture(turn, reflected, judging);
  const { steps, leads } = planSteps(picture, () => findFailures(turn, reflected).length > 0);
  const candidates = listChanges(scene.candidates, reflected.candidates);
  const iterations = listChanges(scene.iterations, reflected.iterations);
  return { type: `steps.${leads}`, taken: { candidates, iterations, steps } };
}

function listChanges<Row>(before: readonly Row[], after: readonly Row[]): RowChange<Row>[] {
  return before.flatMap((row, index) => {
    const now = after[index];
    return now === undefined || now === row ? [] : [{ before: row, after: now }];
  });
}

/** The rows of the search as the turn finds them. */
export function readScene(turn: TurnReading, search: SearchRow): SearchScene {
  const { partition } = turn.self;
  return {
    search,
    input: getSearchInput(turn, partition, search.id),
    candidates: listCandidates(turn, partition, search.id),
    iterations: listIterations(turn, partition, search.id),
  };
}

function toMeasuring(turn: TurnReading, { search, input }: SearchScene): Measuring {
  return { reading: turn, workspaceId: turn.self.partition, search, input };
}

/** With the ends of replays and their figures. */
function measureScene(turn: TurnReading, scene: SearchScene): SearchScene {
  const measuring = toMeasuring(turn, scene);
  return { ...scene, candidates: scene.candidates.map((candidate) => measureEnds(measuring, candidate)) };
}

/** With the outcome of the reflection that ended. */
function closeReflection(turn: TurnReading, scene: SearchScene, judging: ReplayJudging): SearchScene {
  const close = (row: SearchIterationRow): SearchIterationRow => {
    const { reflection, state } = row;
    if (reflection === null || reflection.outcome !== null || state === "wanted" || state === "running") return row;
    const { tasks, causes } = reflection;
    const canGoOn = canPropose(toPicture(turn, scene, judging));
    const outcome = reflectionOutcome({ tasks: tasks.length, ran: state === "ended", causes, canGoOn });
    return { ...row, reflection: { ...reflection, outcome } };
  };
  return { ...scene, iterations: scene.iterations.map(close) };
}

/** The searched tasks that the seed failed: what a reflection looks into. */
export function findFailures(turn: TurnReading, { search, input }: SearchScene): readonly FailedTask[] {
  const runs = input.split.searched.map(({ runId }) => runId);
  const copies = listCopies(turn, turn.self.partition, search.seedReplayId);
  return findFailedTasks(
    copies.filter(({ originalRunId }) => runs.includes(originalRunId)),
    runs,
  );
}
