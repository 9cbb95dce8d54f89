import type { Reading } from "../../storage/store.js";
import type { Job } from "../runners/protocol.js";
import { laterStations, lineOf, stationOf } from "./event-task.js";
import { runConfigs, runs } from "./run-rows.js";
import { latestNotes, taskCheckouts, tasks } from "./task-rows.js";

/** Everything a runner needs for a run, or undefined when the claim is not the run's current one any more. */
export function jobOf(reading: Reading, workspaceId: string, runId: string, fence: number): Job | undefined {
  const run = runs.get(reading, workspaceId, runId);
  if (run === undefined || run.fence !== fence || run.state === "ended") return undefined;
  const task = tasks.get(reading, workspaceId, run.taskId);
  const line = lineOf(reading, workspaceId, run.lineId);
  const config = runConfigs.get(reading, workspaceId, runId);
  if (task === undefined || line === undefined || config === undefined) return undefined;
  const { station, repositories } = config;
  return {
    runId,
    fence,
    workspaceId,
    task: {
      id: task.id,
      title: task.title,
      description: task.description,
      url: task.url,
      notes: latestNotes(reading, workspaceId, task.id).map(({ at, from, text }) => ({ at, from, text })),
    },
    line: { key: line.key, name: line.name },
    station: {
      key: station.key,
      name: stationOf(line, station.key)?.name ?? station.key,
      kind: station.kind,
      prompt: station.prompt,
      model: station.model,
      effort: station.effort,
      check: station.check,
      passesTo: [...run.passesTo],
      next: laterStations(line, station.key, run.passesTo),
    },
    // Arguments, environment and secrets come from harness profiles, which are not served yet.
    harness: { name: station.harness, args: [], env: {}, secrets: {} },
    timeoutMinutes: station.timeoutMinutes,
    checkouts: repositories.map(({ name, setup, image }) => {
      const before = taskCheckouts.get(reading, workspaceId, task.id, name);
      return { repository: name, setup, image, base: before?.base ?? null, diff: before?.diff ?? "" };
    }),
  };
}
