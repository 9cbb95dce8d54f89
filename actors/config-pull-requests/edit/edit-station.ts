import { Worker } from "node:worker_threads";
import type { Asked, Told } from "./edit-worker.js";
import { packList } from "./packed-list.js";
import type { EditOutcome, EditRun, SourceTree, WantedStation } from "./station-edit.js";
import { withWanted } from "./wanted-values.js";

/** Most time that an edit computes once its parsers are loaded, all of its parts together, in milliseconds. */
const MOST_MS = 10_000;
/** Most time that it takes with its start and all that it reads, in milliseconds. */
const MOST_WHOLE_MS = 120_000;

/**
 * What to change in a repository so that a line's source holds the wanted station: the values that differ and nothing
 * else, or why that cannot be. It reads the tree and changes nothing. Rejects with what the tree rejects with, and when
 * its run is ended early.
 *
 * Files are anybody's, and strange ones end the parsers or keep them busy: each edit has a thread of its own, which ends
 * with it. One that ends early, computes for 10 s or takes 2 minutes is refused, `not-proven`.
 */
export function editStation(tree: SourceTree, wanted: WantedStation, run: EditRun): Promise<EditOutcome> {
  const { clock, signal } = run;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const worker = new Worker(new URL("./edit-worker.js", import.meta.url), {
      workerData: wanted,
      // What a parser says as it ends is no matter of the service's.
      ...{ stdout: true, stderr: true, env: {}, resourceLimits: { maxOldGenerationSizeMb: 256 } },
    });
    let isOver = false;
    const stopwatch = new Stopwatch(clock, MOST_MS, () => give(notProven(wanted, "takes too long")));
    const end = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      stopwatch.stop();
      stopWhole();
      signal.removeEventListener("abort", abort);
      void worker.terminate().then(settle);
    };
    const abort = (): void => end(() => reject(signal.reason));
    const give = (outcome: EditOutcome): void => end(() => resolve(outcome));
    const stopWhole = clock.at(clock.now() + MOST_WHOLE_MS, () => give(notProven(wanted, "takes too long")));
    let reading = 0;
    const answer = async (asked: Extract<Asked, { readonly id: number }>): Promise<void> => {
      stopwatch.stop();
      reading += 1;
      const value = asked.path === null ? packList(await tree.list()) : await tree.read(asked.path);
      if (isOver) return;
      reading -= 1;
      worker.postMessage({ id: asked.id, value } satisfies Told);
      if (reading === 0) stopwatch.start();
    };
    signal.addEventListener("abort", abort);
    worker.on("message", (asked: Asked) => {
      if ("outcome" in asked) give(asked.outcome);
      else answer(asked).catch((error: unknown) => end(() => reject(error)));
    });
    worker.on("error", () => give(notProven(wanted, "ends early")));
    worker.on("exit", () => give(notProven(wanted, "ends early")));
  });
}

/** Calls back once it has run for so long, whatever it was stopped for in between. */
class Stopwatch {
  readonly #clock: EditRun["clock"];
  readonly #onEnd: () => void;
  #leftMs: number;
  #sinceMs: number | null = null;
  #cancel = (): void => undefined;

  constructor(clock: EditRun["clock"], mostMs: number, onEnd: () => void) {
    this.#clock = clock;
    this.#leftMs = mostMs;
    this.#onEnd = onEnd;
  }

  start(): void {
    this.#sinceMs = this.#clock.now();
    this.#cancel = this.#clock.at(this.#sinceMs + Math.max(0, this.#leftMs), this.#onEnd);
  }

  stop(): void {
    if (this.#sinceMs === null) return;
    this.#cancel();
    this.#leftMs -= this.#clock.now() - this.#sinceMs;
    this.#sinceMs = null;
  }
}

function notProven(wanted: WantedStation, what: string): EditOutcome {
  const message = `At ${wanted.path}:1: the edit of the file ${what}. Set the values by hand.`;
  const refusal = { code: "not-proven" as const, message, attribute: null, expression: null, wanted: null };
  return { refused: withWanted(refusal, wanted) };
}
