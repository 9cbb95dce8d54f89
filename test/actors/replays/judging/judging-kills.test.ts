import t from "tap";
import { toText } from "../../../../actors/fraction.js";
import { type Money, sumMoney } from "../../../../actors/money.js";
import { modelEffect } from "../../../../actors/outbound/models/model.effects.js";
import type { Model, ModelReply } from "../../../../actors/outbound/models/model.js";
import type { ModelSpent } from "../../../../actors/outbound/models/model-cost.js";
import { listCopies } from "../../../../actors/replays/copies/replay-copy.table.js";
import type { JudgingScene } from "../../../../actors/replays/judging/judging-scene.js";
import type { QuestionEnded } from "../../../../actors/replays/judging/look-questions.js";
import {
  goOnJudging,
  judgeCopy,
  lookAfterEnd,
  takeAnswer,
} from "../../../../actors/replays/judging/replay-judging.transitions.js";
import { replayPairs } from "../../../../actors/replays/judging/replay-pair.table.js";
import { replayVerdicts } from "../../../../actors/replays/judging/replay-verdict.table.js";
import { replays } from "../../../../actors/replays/replay/replay.table.js";
import { inForm } from "../../../../http/demo/scripted-model.js";
import type { Message, Turn } from "../../../../runtime/turns/turn.js";
import { Harness, partition, settled } from "../../../support/harness.js";
import { JudgedReplay, pricedModel } from "../../../support/judged-replay.js";
import { type Note, probe } from "../../../support/probe.js";
import { memoryRows } from "../../../support/turn.js";

/** Judges a replay over simulated time and disk, with a kill before and after each commit. */

const COPIES = 2;
/** The cost of each answer, at the model's prices. */
const KNOWN = 0.0011;
const usage = { in: 1_000, out: 100 };

const toScene = (turn: Turn<unknown>): JudgingScene =>
  ({ turn, replayId: "rep_2", terms: pricedModel }) as JudgingScene;

/**
 * A replay actor that only judges. The message `judge` judges the replay's copies, and `finish` ends the replay. A
 * message has no effect when it is repeated.
 */
const judgedActor = probe("replay", {
  judge: (_context, _message, turn) => {
    const judged = replayVerdicts.list(turn, partition, ["rep_2"]);
    if (judged.length > 0) return;
    for (const copy of listCopies(turn, partition, "rep_2")) judgeCopy(toScene(turn), copy);
  },
  finish: (_context, _message, turn) => {
    const row = replays.get(turn, partition, "rep_2");
    if (row === undefined || row.state === "finished") return;
    replays.put(turn, partition, row, { ...row, state: "finished" });
    lookAfterEnd(toScene(turn));
  },
  "effect.ended": (_context, message, turn) => takeAnswer(toScene(turn), message as Note & QuestionEnded),
  woken: (_context, _message, turn) => goOnJudging(toScene(turn)),
});

/** Returns a model that answers after one second. A killed process never receives the answer. */
function slowModel({ world }: Harness): Model {
  const settings = { ...pricedModel, url: "http://localhost", key: null };
  const complete: Model["complete"] = ({ schema }) =>
    new Promise<ModelReply>((resolve) => {
      const value = inForm({
        model: "m",
        messages: [],
        headers: {},
        response_format: { json_schema: { schema: { ...schema } } },
      });
      const reply: ModelReply = { kind: "completion", text: JSON.stringify(value), isCut: false, usage };
      world.clock.at(world.clock.now() + 1_000, () => resolve(reply));
    });
  return { settings, complete, noteUnreadable: () => undefined };
}

/** Returns a replay of two copies that probes its set and is paired with a finished replay. */
async function seeded(): Promise<Harness> {
  const rows = memoryRows();
  const copy = { state: "judged", result: "succeeded" } as const;
  new JudgedReplay(rows, { id: "rep_1", runs: COPIES, state: "finished", copy });
  new JudgedReplay(rows, { id: "rep_2", runs: COPIES, probe: true, pairedWith: "rep_1" });
  const harness = new Harness({ catalogue: {}, limits: { turnsPerBatch: 1 } });
  const changes = rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put", key, value }) as const);
  const stored = harness.disk.open().commit(changes);
  await harness.advance();
  await stored;
  return harness;
}

const start = (harness: Harness) =>
  harness.start({ actors: [judgedActor], effects: [modelEffect(slowModel(harness))] });

/** Judges the whole replay, and kills the process at one commit. Returns false if the judging makes fewer commits. */
async function judgeThrough(harness: Harness, kill: { readonly commit: number; readonly when: "before" | "after" }) {
  harness.killAt = { ...kill, commit: harness.batches.length + kill.commit };
  const last = harness.killAt.commit;
  await start(harness);
  let isKilled = false;
  for (const type of ["judge", "finish"]) {
    const tell = async () => {
      void settled(harness.runtime.ask(harness.to("replay", "rep_2"), { type } as Message));
      await harness.advance(20_000);
    };
    await tell();
    if (isKilled || harness.batches.length < last) continue;
    isKilled = true;
    harness.crash();
    harness.killAt = null;
    await start(harness);
    await harness.advance(20_000);
    await tell();
  }
  return isKilled;
}

/** Returns violated invariants of a fully judged replay. */
function listComplaints({ durable, logged }: Harness): readonly unknown[] {
  const row = replays.get(durable, partition, "rep_2");
  const copies = listCopies(durable, partition, "rep_2");
  const verdicts = replayVerdicts.list(durable, partition, ["rep_2"]);
  const pairs = replayPairs.list(durable, partition, ["rep_2"]);
  const firsts = verdicts.filter(({ which }) => which === "first");
  const besides = [...verdicts.filter(({ which }) => which === "second"), ...pairs];
  const isRead = pairs.every(({ state, readings }) => state === "judged" && readings.length === 2);
  const looks = [verdicts.length, pairs.length, verdicts.every(({ state }) => state === "judged"), isRead];
  const left = ["effect", "timer"].flatMap((space) => durable.range({ prefix: [partition, space] }));
  return [
    ...logged.map(({ message }) => message),
    ...(String(looks) === `${2 * COPIES},${COPIES},true,true` ? [] : [looks]),
    ...(copies.every(({ result }) => result === "succeeded") && row?.counts.succeeded === COPIES ? [] : [row?.counts]),
    ...(row?.judged === true ? [] : ["it is not judged through"]),
    ...(row?.spending.spent === getSum(firsts) && getSum(firsts) === toText(sumMoney(getMoney(copies), "EUR"))
      ? []
      : ["spent"]),
    ...(row?.spending.besides === getSum(besides) ? [] : ["besides"]),
    ...[...verdicts, ...pairs].filter(({ spent }) => !isCountedOnce(spent)).map(({ spent }) => spent),
    ...left.map(({ key }) => key),
  ];
}

const getMoney = (rows: readonly { readonly spent: Money | null }[]) => rows.flatMap(({ spent }) => spent ?? []);
const getSum = (rows: readonly { readonly spent: ModelSpent }[]): string =>
  toText(
    sumMoney(
      rows.flatMap(({ spent }) => spent.cost ?? []),
      "EUR",
    ),
  );

/**
 * Whether each answer is counted once. Without an estimate, the number of calls and the cost are those of the received
 * answers. If an answer was lost, the cost includes an estimate, which is higher than the cost of an answer.
 */
function isCountedOnce({ calls, cost, isEstimate }: ModelSpent): boolean {
  const amount = cost?.amount ?? 0;
  const known = [1, 2].find((answers) => Math.abs(amount - answers * KNOWN) < 1e-9);
  return isEstimate ? calls > 1 && amount > 0.008 : known === calls;
}

t.test("killed at every commit, each answer is counted once, and nothing is lost or asked for good", async (t) => {
  const lost: number[] = [];
  for (const when of ["before", "after"] as const) {
    for (let commit = 1, isKilled = true; isKilled; commit++) {
      const harness = await seeded();
      isKilled = await judgeThrough(harness, { commit, when });
      t.same(listComplaints(harness), [], `killed ${when} commit ${commit}`);
      const rows = [
        ...replayVerdicts.list(harness.durable, partition, ["rep_2"]),
        ...replayPairs.list(harness.durable, partition, ["rep_2"]),
      ];
      lost.push(rows.filter(({ spent }) => spent.isEstimate).length);
    }
  }
  t.ok(lost.length >= 30, `${lost.length} kills`);
  t.ok(Math.max(...lost) > 1, "kills took answers of questions under way");
});
