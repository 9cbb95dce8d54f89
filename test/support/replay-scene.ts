import type { Test } from "tap";
import type { RunEnding } from "../../actors/runners/protocol.js";
import { listItems } from "./resources.js";
import type { RunnerPeer } from "./runner-peer.js";
import type { Client, TestServiceOptions } from "./service.js";
import { openWorkplace, type Workplace } from "./workplace.js";

const work = { key: "work", name: "Work", kind: "work", runners: { pool: "main" }, passesTo: [] };
const review = { key: "review", name: "Review", kind: "review", runners: { pool: "main" } };

/** The body that creates the line of a {@link ReplayScene}. */
export const sceneLine = {
  key: "dev",
  name: "Dev",
  repositories: [{ name: "acme/app" }],
  stations: [work, review],
};

/** A workplace with a connected runner, where runs can be recorded and replayed. */
export interface ReplayScene extends Workplace {
  readonly peer: RunnerPeer;
  readonly lineId: string;
  /** The path of the team. */
  readonly team: string;
  /** The path of the work station. */
  readonly station: string;
  readonly stationId: string;
  readonly reviewId: string;
}

interface ReplaySceneOptions extends TestServiceOptions {
  /** The work station's check; none by default. */
  readonly check?: string;
}

export async function openReplayScene(t: Test, options: ReplaySceneOptions = {}): Promise<ReplayScene> {
  const { check = null, ...others } = options;
  return toReplayScene(await openWorkplace(t, { ...others, stations: [{ ...work, check }, review] }));
}

/** Connects a runner to a workplace whose line has a work station and a second station. */
export async function toReplayScene<Place extends Workplace>(place: Place): Promise<Place & ReplayScene> {
  const found = await place.ada.request("GET", `/api/resources/workspaces/${place.workspaceId}/lines`);
  const { id: lineId, stations } = listItems(found)[0] as { id: string; stations: { id: string }[] };
  const team = `/api/teams/${place.teamId}`;
  const [stationId = "", reviewId = ""] = stations.map(({ id }) => id);
  const peer = await place.runner();
  return {
    ...place,
    peer,
    lineId,
    team,
    stationId,
    reviewId,
    station: `${team}/lines/${lineId}/stations/${stationId}`,
  };
}

interface Work {
  readonly title?: string;
  readonly ending?: RunEnding;
  /** The base commit that the runner reports; null for none. */
  readonly base?: string | null;
  /** The diff that the run leaves; empty for none. */
  readonly diff?: string;
}

/** Opens a task and works on it until its run has ended and the task is done or in the inbox. */
export async function workTask(
  place: ReplayScene,
  { title = "Mend it", ending = { kind: "finish", note: "" }, base = "b".repeat(40), diff = "" }: Work = {},
): Promise<{ readonly taskId: string; readonly runId: string }> {
  const taskId = await place.open({ title });
  const job = await place.peer.job();
  const { runId, fence } = job;
  const bases = base === null ? [] : [{ repository: "acme/app", base }];
  place.peer.say({ type: "run.started", runId, fence, bases });
  const checkouts = base === null || diff === "" ? [] : [{ repository: "acme/app", base, diff }];
  place.peer.end(job, { ending, checkouts });
  await place.when(`task/${taskId}`, async () => ["done", "inbox"].includes(String((await place.task(taskId)).state)));
  return { taskId, runId };
}

/** Opens a set of the work station; returns its path. */
export async function openSet(place: ReplayScene, name = "Hard ones", client: Client = place.ada): Promise<string> {
  const opened = await client.request("POST", `${place.station}/replay-sets`, { name });
  if (opened.status !== 201) throw new Error(`opening a set answered ${opened.status} ${opened.text}`);
  return `${place.team}/replay-sets/${opened.body?.id}`;
}

/** Opens a set with past runs, each with a different base commit. */
export async function fillSet(
  place: ReplayScene,
  runs: number,
): Promise<{ readonly set: string; readonly runIds: readonly string[] }> {
  const set = await openSet(place);
  const runIds: string[] = [];
  for (let n = 0; n < runs; n++) {
    const { runId } = await workTask(place, { base: String(n + 1).repeat(40) });
    runIds.push(runId);
    const added = await place.ada.request("POST", `${set}/entries`, { runId });
    if (added.status !== 204) throw new Error(added.text);
  }
  return { set, runIds };
}
