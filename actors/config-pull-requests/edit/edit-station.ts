import { Worker } from "node:worker_threads";
import type { Asked, ReadResponse } from "./edit-worker.js";
import { packList } from "./packed-list.js";
import type { EditOutcome, EditRun, SourceTree, WantedStation } from "./station-edit.js";
import { withWanted } from "./wanted-values.js";

/**
 * Maximum total computing time of an edit in milliseconds, after its parsers are loaded. Time spent waiting for reads
 * does not count.
 */
const MAX_MS = 10_000;
/** Maximum total time of an edit in milliseconds, including its start and all reads. */
const MAX_WHOLE_MS = 120_000;

/**
 * Returns the file edits that make a line's source contain the wanted station, or a refusal. The edits change only the
 * values that differ. The function reads the tree and writes nothing. Rejects if the tree rejects, and when
 * `run.signal` aborts.
 *
 * Files come from untrusted authors and can crash or block the parsers. So each edit runs in its own worker thread,
 * which ends with the edit. An edit is refused with `not-proven` if its thread crashes, uses more than 256 MB, computes
 * for more than 10 s or takes more than 2 minutes.
 */
export function editStation(tree: SourceTree, wanted: WantedStation, run: EditRun): Promise<EditOutcome> {
  const { clock, signal } = run;
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const worker = new Worker(new URL("./edit-worker.js", import.meta.url), {
      workerData: wanted,
      // Keep a crashing parser's output out of the service's log.
      stdout: true,
      stderr: true,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    let isOver = false;
    let parsed = wanted.path;
    const stopwatch = new Stopwatch(clock, MAX_MS, () => give(notProven(wanted, parsed, "takes too long")));
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
    const stopWhole = clock.at(clock.now() + MAX_WHOLE_MS, () => give(notProven(wanted, parsed, "takes too long")));
    let reading = 0;
    const answer = async (asked: Extract<Asked, { readonly id: number }>): Promise<void> => {
      stopwatch.stop();
      reading += 1;
      const value = asked.path === null ? packList(await tree.list()) : await tree.read(asked.path);
      if (isOver) return;
      reading -= 1;
      worker.postMessage({ id: asked.id, value } satisfies ReadResponse);
      if (reading === 0) stopwatch.start();
    };
    signal.addEventListener("abort", abort);
    worker.on("message", (asked: Asked) => {
      if ("outcome" in asked) give(asked.outcome);
      else if ("parses" in asked) parsed = asked.parses;
      else answer(asked).catch((error: unknown) => end(() => reject(error)));
    });
    worker.on("error", (error: unknown) => {
      // All parsed files share the memory, so the file that is parsed last is not necessarily the cause.
      const isFull = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
      give(isFull ? notProven(wanted, wanted.path, "uses too much memory") : notProven(wanted, parsed, "ends early"));
    });
    worker.on("exit", () => give(notProven(wanted, parsed, "ends early")));
  });
}

/**
 * A stopwatch that calls a function once its total running time reaches a limit. Time while the stopwatch is stopped
 * does not count.
 */
class Stopwatch {
  readonly #clock: EditRun["clock"];
  readonly #onEnd: () => void;
  #leftMs: number;
  #sinceMs: number | null = null;
  #cancel = (): void => undefined;

  constructor(clock: EditRun["clock"], maxMs: number, onEnd: () => void) {
    this.#clock = clock;
    this.#leftMs = maxMs;
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

/**
 * Returns the refusal of an edit whose thread crashed or took too long. `parsed` is the file that the thread parsed
 * last.
 */
function notProven(wanted: WantedStation, parsed: string, what: string): EditOutcome {
  const edit =
    parsed === wanted.path ? "the edit of the file" : `the edit of ${wanted.path}, which also reads this file,`;
  const message = `At ${parsed}:1: ${edit} ${what}. Set the values by hand.`;
  const refusal = { code: "not-proven" as const, message, attribute: null, expression: null, wanted: null };
  return { refused: withWanted(refusal, wanted) };
}
