import { firstBytes } from "../../replays/figures/excerpt.js";
import { runInputs } from "../../runs/run-input.table.js";
import { readStoredText } from "../../tables/text-blobs.js";
import { folderName } from "./file-name.js";
import { fitJson } from "./fit.js";
import { listSeenOf, type SeenCopy, type Sight } from "./sight.js";

/** Maximum number of a candidate's copies to list. */
const MOST_COPIES = 10;
/** Usual maximum sizes of a task's description and title, in bytes. */
const DESCRIPTION_BYTES = 32 * 1024;
const TITLE_BYTES = 512;

/** Writes the file of a searched task: the task that its agents received, and the results of each candidate. */
export function taskFile(sight: Sight, taskId: string): string {
  const brief = briefOf(sight, taskId);
  const results = sight.candidates.map((candidate) => resultsOf(candidate.name, listSeenOf(sight, candidate, taskId)));
  return fitJson((room) => ({
    taskId,
    title: firstBytes(brief.title, room(TITLE_BYTES)),
    description: firstBytes(brief.description, room(DESCRIPTION_BYTES)),
    results: results.filter(({ of }) => of > 0),
    cut: `A long description is cut. Of many copies ${MOST_COPIES} are named. Folders are here as brief.json says.`,
  }));
}

/**
 * Returns a candidate's results on the task: the number of copies that succeeded, and a list of copies that starts with
 * those that did not succeed.
 */
function resultsOf(candidate: string, seen: readonly SeenCopy[]) {
  const rank = ({ copy }: SeenCopy) => Number(copy.result === "succeeded");
  const first = [...seen].sort((left, right) => rank(left) - rank(right)).slice(0, MOST_COPIES);
  return {
    candidate,
    of: seen.length,
    succeeded: seen.filter(({ copy }) => copy.result === "succeeded").length,
    copies: first.map(({ copy: { place, repeat, result, why, ms } }) => ({
      folder: `${folderName(candidate)}/${place}-${repeat}`,
      result,
      why: why?.code ?? null,
      ms,
    })),
  };
}

/** Returns the task in the form that the agents of its searched runs received. */
function briefOf(sight: Sight, taskId: string): { readonly title: string; readonly description: string } {
  const { reading, workspaceId, searched } = sight;
  for (const [runId, of] of searched) {
    const brief = of === taskId ? runInputs.get(reading, workspaceId, runId)?.claimed?.brief : null;
    if (brief) {
      return { title: brief.title, description: readStoredText(reading, workspaceId, brief.description) };
    }
  }
  return { title: "", description: "" };
}
