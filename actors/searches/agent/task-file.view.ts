import { firstBytes } from "../../replays/figures/excerpt.js";
import { runInputs } from "../../runs/run-input.table.js";
import { readStoredText } from "../../tables/text-blobs.js";
import { folderName } from "./file-name.js";
import { fitJson } from "./fit.js";
import { listSeenOf, type Sight } from "./sight.js";

/** Bytes that a task's description has usually; its title has half a KiB. */
const DESCRIPTION_BYTES = 32 * 1024;
const TITLE_BYTES = 512;

/** A searched task: what its agents were asked, and how each candidate did on it. */
export function taskFile(sight: Sight, taskId: string): string {
  const brief = briefOf(sight, taskId);
  const results = sight.candidates.map((candidate) => ({
    candidate: candidate.name,
    copies: listSeenOf(sight, candidate, taskId).map(({ copy: { place, repeat, result, why, ms } }) => ({
      ...{ folder: `${folderName(candidate.name)}/${place}-${repeat}`, result, why: why?.code ?? null, ms },
    })),
  }));
  return fitJson((room) => ({
    taskId,
    title: firstBytes(brief.title, room(TITLE_BYTES)),
    description: firstBytes(brief.description, room(DESCRIPTION_BYTES)),
    results: results.filter(({ copies }) => copies.length > 0),
    cut: "A long description is cut. Only some of the folders are here: see brief.json.",
  }));
}

/** The task as the agents of its searched runs were given it. */
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
