import type { Effect } from "../../runtime/cells/actor-type.js";
import { effect } from "../../runtime/effects/effect-type.js";
import type { RunSignal } from "../../runtime/effects/run-signal.js";
import { effectSpace } from "../../storage/keys.js";
import { Harness, partition } from "../support/harness.js";
import { type PlainRun, plainLane } from "../support/plain-effect.js";
import { type Note, probe } from "../support/probe.js";

interface Run {
  readonly id: string;
  readonly input: unknown;
  readonly signal: RunSignal;
  end(output: unknown): void;
  fail(error: unknown): void;
}

/** Creates an effect whose runs the test ends. */
export function byHand(
  name: string,
  concurrency: number,
  lane = plainLane(concurrency),
): { effect: Effect; runs: Run[] } {
  const runs: Run[] = [];
  const run: PlainRun = (input, { id, signal }) =>
    new Promise((resolve, reject) => {
      runs.push({ id, input, signal, end: resolve, fail: reject });
    });
  return { effect: effect<unknown, unknown>(name).implement(lane, run), runs };
}

export const worker = probe("worker", {
  start: (_context, { id, name, input }, turn) =>
    turn.start({ name: String(name ?? "work"), id: String(id), input: input ?? null }),
  startMany: (_context, { count }, turn) => {
    for (let n = 0; n < Number(count); n++) turn.start({ name: "work", id: `many-${n}`, input: n });
  },
  startTwice: (_context, { id }, turn) => {
    turn.start({ name: "work", id: String(id), input: 1 });
    turn.start({ name: "work", id: String(id), input: 2 });
  },
  cancel: (_context, { id }, turn) => turn.cancelEffect(String(id)),
  restart: (_context, { id }, turn) => {
    turn.cancelEffect(String(id));
    turn.start({ name: "work", id: String(id), input: "again" });
  },
  startAndCancel: (_context, { id }, turn) => {
    turn.start({ name: "work", id: String(id), input: 1 });
    turn.cancelEffect(String(id));
  },
  "effect.ended": (context, { id, result, effect }) => ({
    ended: [...((context.ended ?? []) as unknown[]), { id, result, effect }],
  }),
  ended: ({ ended }, _message, turn) => turn.reply(ended ?? []),
  stop: (_context, _message, turn) => turn.stop(),
});

export async function started(concurrency = 2) {
  const { effect: work, runs } = byHand("work", concurrency);
  return { ...(await startedWith(work)), runs };
}

export async function startedWith(work: Effect) {
  const harness = new Harness({ catalogue: { actors: [worker], effects: [work] } });
  await harness.start();
  const ended = () => harness.ask(harness.to("worker"), { type: "ended" });
  const tell = (message: Note, id = "1") => harness.ask(harness.to("worker", id), message);
  return { harness, ended, tell };
}

export function pending(harness: Harness): number {
  return harness.durable.range({ prefix: [partition, effectSpace] }).length;
}
