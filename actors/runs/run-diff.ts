import type { Reading } from "../../storage/store.js";
import type { Refusal } from "../refusal.js";
import { readBodyInSlices } from "../tables/text-blobs.js";
import type { VisibleRun } from "./run.queries.js";
import { runCheckouts } from "./run.table.js";
import { runInputs } from "./run-input.table.js";

/** The diff of a run in one repository. */
export interface RunDiff {
  readonly repository: string;
  /** Digest of the text; null for no changes. */
  readonly digest: string | null;
}

/**
 * Lists the diffs of a run: of all its repositories, or only of `repository`. The list is empty before the run ends.
 * Refuses with `not-found` if the run does not work on `repository`.
 */
export function listRunDiffs(
  reading: Reading,
  { workspaceId, run: { id } }: VisibleRun,
  repository: string | undefined,
): readonly RunDiff[] | Refusal {
  const diffs = runCheckouts.list(reading, workspaceId, [id]);
  if (repository === undefined) return diffs;
  const configured = runInputs.get(reading, workspaceId, id)?.config.repositories ?? [];
  const names = [...new Set([...configured.map(({ name }) => name), ...diffs.map((diff) => diff.repository)])];
  if (names.includes(repository)) return diffs.filter((diff) => diff.repository === repository);
  const detail = `The run does not work on the repository ${repository}.`;
  return { refused: "not-found", detail, hint: `\`repository\` takes ${names.join(", ") || "none"} here` };
}

const NEWLINE = Buffer.from("\n");

/**
 * Yields the texts of the diffs one after the other, in slices. Reads a text only when the caller requests its first
 * slice. Adds a newline to a text that does not end with a newline.
 */
export function* readDiffs(
  reading: Reading,
  workspaceId: string,
  diffs: readonly Pick<RunDiff, "digest">[],
): Generator<Uint8Array> {
  for (const { digest } of diffs) {
    if (digest === null) continue;
    let last: number | undefined;
    for (const slice of readBodyInSlices(reading, workspaceId, digest)) {
      last = slice.at(-1);
      yield slice;
    }
    if (last !== NEWLINE[0]) yield NEWLINE;
  }
}
