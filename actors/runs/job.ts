import type { Reading } from "../../storage/store.js";
import { findLine, findStation, laterStations } from "../lines/line.queries.js";
import { findStoredSkill } from "../lines/run-setup.js";
import { findResourceAt } from "../resources/resource.table.js";
import type { Job } from "../runners/protocol.js";
import type { Sealer } from "../sealer.js";
import { listLatestNotes, taskCheckouts, tasks } from "../tasks/task.table.js";
import { runConfigs, runs } from "./run.table.js";

/** What a job is built from. */
export interface JobSource {
  readonly reading: Reading;
  readonly sealer: Pick<Sealer, "open">;
}

/** Everything a runner needs for a run, or undefined when the claim is not the run's current one any more. */
export function buildJob(
  { reading, sealer }: JobSource,
  workspaceId: string,
  { runId, fence }: { readonly runId: string; readonly fence: number },
): Job | undefined {
  const run = runs.get(reading, workspaceId, runId);
  if (run === undefined || run.fence !== fence || run.state === "ended") return undefined;
  const task = tasks.get(reading, workspaceId, run.taskId ?? "");
  const line = findLine(reading, workspaceId, run.lineId);
  const config = runConfigs.get(reading, workspaceId, runId);
  if (task === undefined || line === undefined || config === undefined) return undefined;
  const { station, repositories, skills, profile } = config;
  return {
    runId,
    fence,
    workspaceId,
    task: {
      id: task.id,
      title: task.title,
      description: task.description,
      url: task.url,
      notes: listLatestNotes(reading, workspaceId, task.id).map(({ at, from, text }) => ({ at, from, text })),
    },
    line: { key: line.key, name: line.name },
    station: {
      key: station.key,
      name: findStation(line, station.key)?.name ?? station.key,
      kind: station.kind,
      prompt: station.prompt,
      model: station.model,
      effort: station.effort,
      check: station.check,
      passesTo: [...run.passesTo],
      next: laterStations(line, station.key, run.passesTo),
    },
    harness: {
      name: station.harness,
      args: [...(profile?.args ?? [])],
      env: { ...profile?.env },
      ...openSecrets({ reading, sealer }, workspaceId, profile?.secrets ?? {}),
    },
    skills: skills.flatMap(({ key, digest }) => {
      const skill = findStoredSkill(reading, workspaceId, digest);
      return skill === undefined ? [] : [{ ...skill, key }];
    }),
    timeoutMinutes: Math.min(station.timeoutMinutes, profile?.timeoutMinutes ?? station.timeoutMinutes),
    checkouts: repositories.map(({ name, setup, image }) => {
      const before = taskCheckouts.get(reading, workspaceId, task.id, name);
      return { repository: name, setup, image, base: before?.base ?? null, diff: before?.diff ?? "" };
    }),
  };
}

/** The values of secrets by environment name; names of those that are gone, or cannot be opened, apart. */
function openSecrets(
  { reading, sealer }: JobSource,
  workspaceId: string,
  names: Readonly<Record<string, string>>,
): Pick<Job["harness"], "secrets" | "missingSecrets"> {
  const secrets: Record<string, string> = {};
  const missingSecrets: string[] = [];
  for (const [variable, name] of Object.entries(names)) {
    const sealed = findResourceAt(reading, workspaceId, "secret", name)?.hidden.value;
    const value = sealed === undefined ? null : opened(sealer, sealed);
    if (value === null) missingSecrets.push(name);
    else secrets[variable] = value;
  }
  return { secrets, missingSecrets };
}

function opened(sealer: Pick<Sealer, "open">, sealed: string): string | null {
  try {
    return sealer.open(sealed);
  } catch {
    return null;
  }
}
