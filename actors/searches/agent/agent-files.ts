import { briefFile, detailedOf } from "./brief.view.js";
import { candidateFile } from "./candidate-file.view.js";
import { diffFile, resultFile } from "./copy-file.view.js";
import { type CopyFileName, type FileName, folderName } from "./file-name.js";
import { findSeen, listSeen, type SeenCopy, type Sight } from "./sight.js";
import { taskFile } from "./task-file.view.js";

/**
 * Lists the names of the files for an iteration's agent: the brief, candidates, tasks, then the files of each copy,
 * starting with copies that did not succeed. If there are too many files or too many bytes, the last ones are omitted.
 */
export function listFileNames(sight: Sight): readonly FileName[] {
  const { candidates, places, iteration } = sight;
  const tasks = iteration.reflection?.tasks.map(({ taskId }) => taskId) ?? [...places.keys()];
  const seen = detailedOf(sight)
    .flatMap((candidate) => listSeen(sight, candidate))
    .filter(({ copy }) => tasks.includes(copy.taskId) && copy.runId !== null);
  const ordered = [...seen].sort((left, right) => Number(hasSucceeded(left)) - Number(hasSucceeded(right)));
  return [
    { kind: "brief" },
    ...candidates.map(({ candidateId }): FileName => ({ kind: "candidate", candidateId })),
    ...tasks.map((taskId): FileName => ({ kind: "task", taskId })),
    ...ordered.flatMap((one): FileName[] => [fileOf("result", one), fileOf("diff", one)]),
  ];
}

function hasSucceeded({ copy }: SeenCopy): boolean {
  return copy.result === "succeeded";
}

function fileOf(
  kind: CopyFileName["kind"],
  { candidate: { candidateId }, copy: { place, repeat } }: SeenCopy,
): FileName {
  return { kind, candidateId, place, repeat };
}

/** A file: its path in the agent's folder, and its content. */
export interface AgentFile {
  readonly path: string;
  readonly content: string;
}

/**
 * Returns one file; undefined if the agent may not see it, or if it has no content. The agent sees only candidates,
 * searched tasks and searched runs.
 */
export function findAgentFile(sight: Sight, name: FileName): AgentFile | undefined {
  switch (name.kind) {
    case "brief":
      return { path: "brief.json", content: briefFile(sight) };
    case "candidate": {
      const candidate = sight.candidates.find(({ candidateId }) => candidateId === name.candidateId);
      if (candidate === undefined) return undefined;
      return { path: `candidates/${folderName(candidate.name)}.json`, content: candidateFile(sight, candidate) };
    }
    case "task":
      if (!sight.places.has(name.taskId)) return undefined;
      return { path: `runs/${folderName(name.taskId)}/task.json`, content: taskFile(sight, name.taskId) };
    case "result":
    case "diff":
      return findCopyFile(sight, name);
  }
}

function findCopyFile(sight: Sight, name: CopyFileName): AgentFile | undefined {
  const seen = findSeen(sight, name);
  if (seen === undefined) return undefined;
  const { taskId, place, repeat } = seen.copy;
  const folder = `runs/${folderName(taskId)}/${folderName(seen.candidate.name)}/${place}-${repeat}`;
  if (name.kind === "result") return { path: `${folder}/result.json`, content: resultFile(sight, seen) };
  const content = diffFile(sight, seen);
  return content === "" ? undefined : { path: `${folder}/change.diff`, content };
}
