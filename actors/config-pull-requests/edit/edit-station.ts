import { Worker } from "node:worker_threads";
import type { Asked, Told } from "./edit-worker.js";
import { packList } from "./packed-list.js";
import type { EditOutcome, EditRun, SourceTree, WantedStation } from "./station-edit.js";

/** How long an edit may compute without asking for a file: HCL's own parser takes up to 30 s for the largest one, twice. */
const MOST_MS = 180_000;

/**
 * What to change in a repository so that a line's source holds the wanted station: the values that differ and nothing
 * else, or why that cannot be. It reads the tree and changes nothing. Rejects with what the tree rejects with, and when
 * its run is ended early.
 *
 * Files are anybody's, and the parsers take long for large ones and are ended by strange ones: each edit has a thread of
 * its own, which ends with it. One that ends early or takes too long is refused, `not-proven`.
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
    let stopWaiting = (): void => undefined;
    const end = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      stopWaiting();
      signal.removeEventListener("abort", abort);
      void worker.terminate().then(settle);
    };
    const abort = (): void => end(() => reject(signal.reason));
    const give = (outcome: EditOutcome): void => end(() => resolve(outcome));
    const wait = (): void => {
      stopWaiting();
      stopWaiting = clock.at(clock.now() + MOST_MS, () => give(notProven(wanted, "took too long")));
    };
    const answer = async (asked: Extract<Asked, { readonly id: number }>): Promise<void> => {
      stopWaiting();
      const value = asked.path === null ? packList(await tree.list()) : await tree.read(asked.path);
      if (isOver) return;
      worker.postMessage({ id: asked.id, value } satisfies Told);
      wait();
    };
    signal.addEventListener("abort", abort);
    worker.on("message", (asked: Asked) => {
      if ("outcome" in asked) give(asked.outcome);
      else answer(asked).catch((error: unknown) => end(() => reject(error)));
    });
    worker.on("error", () => give(notProven(wanted, "ended early")));
    worker.on("exit", () => give(notProven(wanted, "ended early")));
    wait();
  });
}

function notProven({ path }: WantedStation, what: string): EditOutcome {
  const message = `To read ${path} ${what}. Set the values by hand.`;
  return { refused: { code: "not-proven", message, attribute: null, expression: null, wanted: null } };
}
