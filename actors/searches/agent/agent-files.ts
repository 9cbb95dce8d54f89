import { firstBytes } from "../../replays/figures/excerpt.js";
import { runInputs } from "../../runs/run-input.table.js";
import { readStoredText } from "../../tables/text-blobs.js";
import { type AgentContext, findSeen, listSeen, listSeenOfTask, type SeenCopy } from "./agent-context.js";
import { briefFile, toDetailed } from "./brief.view.js";
import { candidateFile } from "./candidate-file.view.js";
import { diffFile, resultFile } from "./copy-file.view.js";
import { type CopyFileName, type FileName, folderName } from "./file-name.js";
import { fitJson } from "./fit.js";

/**
 * Lists the names of the files for an iteration's agent in this order: the brief, the candidates, the tasks, the
 * copies. Copies that did not succeed come before other copies. The caller omits files that exceed the limits on number
 * and bytes.
 */
export function listFileNames(context: AgentContext): readonly FileName[] {
  const { candidates, places, iteration } = context;
  const tasks = iteration.reflection?.tasks.map(({ taskId }) => taskId) ?? [...places.keys()];
  const seen = toDetailed(context)
    .flatMap((candidate) => listSeen(context, candidate))
    .filter(({ copy }) => tasks.includes(copy.taskId) && copy.runId !== null);
  const ordered = [...seen].sort((left, right) => Number(hasSucceeded(left)) - Number(hasSucceeded(right)));
  return [
    { kind: "brief" },
    ...candidates.map(({ candidateId }): FileName => ({ kind: "candidate", candidateId })),
    ...tasks.map((taskId): FileName => ({ kind: "task", taskId })),
    ...ordered.flatMap((one): FileName[] => [toFile("result", one), toFile("diff", one)]),
  ];
}

function hasSucceeded({ copy }: SeenCopy): boolean {
  return copy.result === "succeeded";
}

function toFile(
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
 * Returns one file. Returns undefined if the agent may not see the file, or if the file has no content. The agent sees
 * only the brief, candidates, searched tasks and searched runs.
 */
export function findAgentFile(context: AgentContext, name: FileName): AgentFile | undefined {
  switch (name.kind) {
    case "brief":
      return { path: "brief.json", content: briefFile(context) };
    case "candidate": {
      const candidate = context.candidates.find(({ candidateId }) => candidateId === name.candidateId);
      if (candidate === undefined) return undefined;
      return { path: `candidates/${folderName(candidate.name)}.json`, content: candidateFile(context, candidate) };
    }
    case "task":
      if (!context.places.has(name.taskId)) return undefined;
      return { path: `runs/${folderName(name.taskId)}/task.json`, content: taskFile(context, name.taskId) };
    case "result":
    case "diff":
      return findCopyFile(context, name);
  }
}

function findCopyFile(context: AgentContext, name: CopyFileName): AgentFile | undefined {
  const seen = findSeen(context, name);
  if (seen === undefined) return undefined;
  const { taskId, place, repeat } = seen.copy;
  const folder = `runs/${folderName(taskId)}/${folderName(seen.candidate.name)}/${place}-${repeat}`;
  if (name.kind === "result") return { path: `${folder}/result.json`, content: resultFile(context, seen) };
  const content = diffFile(context, seen);
  return content === "" ? undefined : { path: `${folder}/change.diff`, content };
}

/** Maximum number of a candidate's copies to list. */
const MAX_COPIES = 10;
/**
 * Maximum sizes of a task's description and title, in bytes. `fitJson` reduces these sizes if the file is too large.
 */
const DESCRIPTION_BYTES = 32 * 1024;
const TITLE_BYTES = 512;

/**
 * Writes the file of a searched task: the task as the agents of its runs received it, and the results of each
 * candidate.
 */
function taskFile(context: AgentContext, taskId: string): string {
  const brief = toBrief(context, taskId);
  const results = context.candidates.map((candidate) =>
    toResults(candidate.name, listSeenOfTask(context, candidate, taskId)),
  );
  return fitJson((limit) => ({
    taskId,
    title: firstBytes(brief.title, limit(TITLE_BYTES)),
    description: firstBytes(brief.description, limit(DESCRIPTION_BYTES)),
    results: results.filter(({ of }) => of > 0),
    cut: `A long description is cut. Of many copies ${MAX_COPIES} are named. Folders are here as brief.json says.`,
  }));
}

/**
 * Returns a candidate's results on the task: the number of copies that succeeded, and a list of copies. Copies that did
 * not succeed come first.
 */
function toResults(candidate: string, seen: readonly SeenCopy[]) {
  const rank = ({ copy }: SeenCopy) => Number(copy.result === "succeeded");
  const first = [...seen].sort((left, right) => rank(left) - rank(right)).slice(0, MAX_COPIES);
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

/**
 * Returns the task in the form that the agents of its searched runs received. Returns empty texts if this form is not
 * stored.
 */
function toBrief(context: AgentContext, taskId: string): { readonly title: string; readonly description: string } {
  const { reading, workspaceId, searched } = context;
  for (const [runId, of] of searched) {
    const brief = of === taskId ? runInputs.get(reading, workspaceId, runId)?.claimed?.brief : null;
    if (brief) {
      return { title: brief.title, description: readStoredText(reading, workspaceId, brief.description) };
    }
  }
  return { title: "", description: "" };
}
