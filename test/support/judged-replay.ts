import type { RunConfig } from "../../actors/lines/fingerprint.js";
import type { ModelOutcome, ModelQuestion } from "../../actors/outbound/models/model.effects.js";
import { listCopies, replayCopies } from "../../actors/replays/copies/replay-copy.table.js";
import type { JudgingScene } from "../../actors/replays/judging/judging-scene.js";
import type { QuestionEnded } from "../../actors/replays/judging/look-questions.js";
import type { ModelTerms } from "../../actors/replays/judging/model-terms.js";
import { goOnJudging, judgeCopy, takeAnswer } from "../../actors/replays/judging/replay-judging.transitions.js";
import type { ReplayCopyRow, ReplayRow } from "../../actors/replays/replay/replay.js";
import { replays } from "../../actors/replays/replay/replay.table.js";
import { replayInputs } from "../../actors/replays/replay/replay-input.table.js";
import type { RunRow } from "../../actors/runs/run.js";
import { runCheckouts, runs } from "../../actors/runs/run.table.js";
import { runInputs } from "../../actors/runs/run-input.table.js";
import { storeStep } from "../../actors/runs/run-steps.js";
import { storeText } from "../../actors/tables/text-blobs.js";
import { address } from "../../runtime/cells/address.js";
import { judge } from "./run-config.js";
import { memoryRows, type TurnTaken, withTurn } from "./turn.js";
import { lineId, teamId, workspaceId } from "./work.js";

/**
 * This file creates the rows of replays whose copies are settled, and steps the judging turn by turn. The test answers
 * for the model.
 */

type Rows = ReturnType<typeof memoryRows>;
type Judge = RunConfig["station"]["judge"];

/** A model with a price of 1 per million tokens, for input and output. */
export const pricedModel: ModelTerms = { name: "m", prices: { in: 1, out: 1, currency: "EUR", models: {} } };

/** How to build the replay. */
export interface JudgedReplayOptions {
  readonly id?: string;
  readonly judge?: Judge;
  /** The model's name at the replay's start; null by default. */
  readonly judgeModel?: string | null;
  readonly runs?: number;
  readonly repeats?: number;
  readonly ceiling?: number;
  readonly state?: ReplayRow["state"];
  readonly probe?: boolean;
  readonly pairedWith?: string | null;
  readonly terms?: ModelTerms | null;
  /**
   * Returns the diff that the copies of a run left; null if they left none. `place` is the run's position, counted from
   * 1.
   */
  readonly diffOf?: (place: number) => string | null;
  readonly copy?: Partial<ReplayCopyRow>;
}

/** Returns a diff of one line. */
export const toDiff = (text: string): string => `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+${text}\n`;

const noCosts = { queued: 0, running: 0, settled: 0, succeeded: 0, failed: 0, unscored: 0 };
const station: RunConfig["station"] = {
  key: "work",
  kind: "work",
  harness: "command",
  model: null,
  effort: null,
  profile: null,
  prompt: "",
  skills: [],
  tools: [],
  check: null,
  diffs: false,
  decisions: false,
  timeoutMinutes: 60,
  judge: null,
};

export class JudgedReplay {
  readonly id: string;
  /** The time of the next turn. */
  now = Date.parse("2026-01-01T00:00:00.000Z");
  /** Questions that the model has not answered, by effect id. */
  readonly asked = new Map<string, ModelQuestion>();
  /** The time of the next wake-up, at which judging continues; null if no wake-up is set. */
  wakeMs: number | null = null;
  terms: ModelTerms | null;
  #turns = 0;
  /**
   * The effect whose result the current turn handles; null if there is none. The turn must not start another effect
   * with this id.
   */
  #ended: string | null = null;

  constructor(
    readonly rows: Rows = memoryRows(),
    options: JudgedReplayOptions = {},
  ) {
    const { id = "rep_1", terms = pricedModel } = options;
    this.id = id;
    this.terms = terms;
    putReplay(rows, id, options);
  }

  get row(): ReplayRow {
    const row = replays.get(this.rows, workspaceId, this.id);
    if (row === undefined) throw new Error("there is no replay");
    return row;
  }

  get copies(): readonly ReplayCopyRow[] {
    return listCopies(this.rows, workspaceId, this.id);
  }

  /** Runs a turn of the replay; records its questions and its wake-up. */
  act(work: (scene: JudgingScene) => void): TurnTaken {
    const self = address(workspaceId, "replay", this.id);
    const scene = { replayId: this.id, terms: this.terms };
    const taken = withTurn(self, (turn) => work({ turn, ...scene }), {
      rows: this.rows,
      now: this.now,
      seed: ++this.#turns,
    });
    const ended = this.#ended;
    this.#ended = null;
    for (const intent of taken.intents) {
      if (intent.kind === "start" && intent.effect.id === ended) throw new Error("an effect that is still pending");
      if (intent.kind === "start") this.asked.set(intent.effect.id, intent.effect.input as ModelQuestion);
      if (intent.kind === "cancel-effect") this.asked.delete(intent.id);
      if (intent.kind === "wake") this.wakeMs = intent.dueMs;
      if (intent.kind === "cancel-wake") this.wakeMs = null;
    }
    return taken;
  }

  /** Judges every copy, each in a separate turn. */
  judgeAll(): void {
    for (const copy of this.copies) this.act((scene) => judgeCopy(scene, copy));
  }

  /** Delivers the due wake-ups. */
  goOn(): void {
    while (this.wakeMs !== null && this.wakeMs <= this.now) {
      this.wakeMs = null;
      this.act(goOnJudging);
    }
  }

  /** Answers a question with the model's outcome. */
  answer(id: string, outcome: ModelOutcome): TurnTaken {
    this.#ended = id;
    if (!this.asked.delete(id)) throw new Error(`there is no question ${id}`);
    const ended: QuestionEnded = {
      type: "effect.ended",
      effect: "model.ask",
      id,
      result: { ok: true, output: outcome },
    };
    return this.act((scene) => takeAnswer(scene, ended));
  }

  /** Ends a question's effect with a failure. */
  fail(id: string): TurnTaken {
    this.asked.delete(id);
    const ended: QuestionEnded = {
      type: "effect.ended",
      effect: "model.ask",
      id,
      result: { ok: false, error: "lost" },
    };
    return this.act((scene) => takeAnswer(scene, ended));
  }

  /** Answers the model's questions until no question is open. */
  answerAll(toOutcome: (question: ModelQuestion, id: string) => ModelOutcome): void {
    for (;;) {
      this.goOn();
      const [next] = this.asked;
      if (next === undefined) return;
      const [id, question] = next;
      this.answer(id, toOutcome(question, id));
    }
  }
}

/** Returns an answer of the model. `cost` is in EUR; it is null for an answer without a price. */
export function answered(value: unknown, cost: number | null = 0.001): ModelOutcome {
  const money = cost === null ? null : { amount: cost, currency: "EUR" };
  return { state: "answered", value, model: "m", spent: { calls: 1, cost: money, isEstimate: false } };
}

/** Returns the verdict of a judge with one claim. */
export const verdict = (met: boolean, cost?: number | null): ModelOutcome =>
  answered({ claim1: { reasons: [{ text: met ? "It does." : "It does not.", citations: [] }], met } }, cost);

function putReplay(rows: Rows, id: string, options: JudgedReplayOptions): void {
  const { runs: count = 1, repeats = 1, ceiling = 10, state = "running", probe = false, pairedWith = null } = options;
  const { judgeModel = null } = options;
  const { judge: judged = judge, diffOf: diffAt = (place) => toDiff(`${id} ${place}`), copy = {} } = options;
  const at = "2026-01-01T00:00:00.000Z";
  const config: RunConfig = {
    station: { ...station, judge: judged },
    skills: [],
    profile: null,
    repositories: [{ name: "acme/app", setup: null, image: null }],
  };
  const places = Array.from({ length: count }, (_, index) => index + 1);
  replays.insert(rows, workspaceId, {
    id,
    teamId,
    lineId,
    stationId: "sta_work",
    stationKey: "work",
    setId: "rset_1",
    setVersion: count + 1,
    candidate: { id: "cand_1", name: "Another", kind: "proposed" },
    fingerprint: "f",
    runningFingerprint: "r",
    scoringFingerprint: "s",
    state,
    runs: count,
    repeats,
    ceiling: { amount: ceiling, currency: "EUR" },
    createdAt: at,
    startedAt: at,
    endedAt: null,
    probe,
    pairedWith,
    startedBaseline: null,
    answers: null,
    search: null,
    judged: false,
    waiting: null,
    counts: { ...noCosts, settled: count * repeats },
    spending: { spent: "0/1", besides: "0/1", unpriced: 0 },
  } as ReplayRow);
  replayInputs.insert(rows, workspaceId, {
    replayId: id,
    config,
    judgeModel,
    live: config,
    next: [],
    stationAddress: "core/dev/work",
    concurrency: null,
    block: { name: "Work", passesTo: [], alerts: [], runners: { pool: null, labels: [] } },
    entries: places.map((place) => ({
      place,
      runId: `run_old${place}`,
      taskId: `task_${place}`,
      title: "Do",
      refusal: null,
    })),
  });
  for (const place of places) {
    for (let repeat = 1; repeat <= repeats; repeat++) {
      const runId = `run_${id}_${place}_${repeat}`;
      replayCopies.insert(rows, workspaceId, {
        replayId: id,
        place,
        repeat,
        originalRunId: `run_old${place}`,
        taskId: `task_${place}`,
        runId,
        state: "judging",
        lostRunIds: [],
        result: null,
        why: null,
        outcome: "completed",
        check: null,
        spent: null,
        priced: true,
        steps: 1,
        ms: 1_000,
        toolMisses: 0,
        ...copy,
      });
      putRun(rows, { id: runId, replayId: id, config, diff: diffAt(place) });
    }
  }
}

interface LeftRun {
  readonly id: string;
  readonly replayId: string;
  readonly config: RunConfig;
  readonly diff: string | null;
}

function putRun(rows: Rows, { id, replayId, config, diff }: LeftRun): void {
  const self = address(workspaceId, "run", id);
  const owner = { kind: "replay", id: replayId } as const;
  const row = {
    id,
    owner,
    ownerAddress: address(workspaceId, "replay", replayId),
    taskId: null,
    teamId,
    lineId,
    stationId: "sta_work",
    stationKey: "work",
    state: "ended",
    outcome: "completed",
    reason: null,
    runnerId: null,
    fence: 1,
    fingerprint: "f",
    needs: { poolId: null, labels: [], harness: "command" },
    passesTo: [],
    steps: 1,
    spent: null,
    handover: null,
    ending: { kind: "finish", note: "" },
    failure: null,
    check: null,
    queuedAtMs: 0,
    startedAt: "2026-01-01T00:00:00.000Z",
    endedAt: "2026-01-01T00:00:01.000Z",
  } as unknown as RunRow;
  withTurn(
    self,
    (turn) => {
      runs.insert(turn, workspaceId, row);
      const line = { key: "dev", name: "Dev" };
      const brief = { id: "task_1", title: "Mend it", description: "Well.", url: "", marks: {}, notes: null };
      runInputs.insert(turn, workspaceId, {
        runId: id,
        config,
        claimed: { brief, secrets: {} },
        beginning: { line, station: { name: "Work", passesTo: [], next: [] }, checkouts: [] },
      });
      storeStep(turn, id, { index: 0, kind: "message", text: "Done.", tool: null, spent: null, at: "" });
      if (diff === null) return;
      const digest = storeText(turn, workspaceId, diff);
      runCheckouts.insert(turn, workspaceId, { runId: id, repository: "acme/app", base: "b".repeat(40), digest });
    },
    { rows },
  );
}
