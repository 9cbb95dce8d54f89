import type { Test } from "tap";
import type { Job } from "../../actors/runners/job.js";
import { fillSet, openReplayScene, type ReplayScene, sceneLine } from "./replay-scene.js";
import { replace } from "./resources.js";
import type { Client, Reply, TestServiceOptions } from "./service.js";
import { until } from "./until.js";

/** The check terms in the line of a {@link CheckScene}. */
export const sceneTerms = { mostRegressions: 0, ceiling: 10, currency: "EUR", minGain: 0.05 };

const [work, ...others] = sceneLine.stations;

/** A replay scene with a set that guards its work station. */
export interface CheckScene extends ReplayScene {
  /** The path of the set, its id, and the ids of its runs. */
  readonly set: string;
  readonly setId: string;
  readonly runIds: readonly string[];
  /** Returns the body of a check of the work station with a planned prompt and `more` fields. */
  readonly plan: (more?: Readonly<Record<string, unknown>>) => Record<string, unknown>;
  /** Requests a check, by default under a new idempotency key. */
  readonly check: (body: unknown, key?: string, client?: Client) => Promise<Reply>;
  readonly readCheck: (id: unknown) => Promise<Readonly<Record<string, unknown>>>;
  /** Reads the check until it has this verdict. */
  readonly untilVerdict: (id: unknown, verdict: string) => Promise<Readonly<Record<string, unknown>>>;
  /**
   * Replaces the line with the scene's line. `station` overrides fields of the work station, and `line` overrides
   * fields of the line.
   */
  readonly changeLine: (of?: { readonly station?: object; readonly line?: object }) => Promise<void>;
}

/** The work station's block as plans contain it, without `passesTo`. */
export const plannedStation = { ...work, passesTo: undefined, prompt: "Mend it well." };

export async function openCheckScene(
  t: Test,
  {
    runs = 2,
    station = {},
    ...options
  }: TestServiceOptions & { readonly runs?: number; readonly station?: object } = {},
): Promise<CheckScene> {
  const place = await openReplayScene(t, options);
  const { ada, team, lineId } = place;
  const path = `/api/resources/lines/${lineId}`;
  const changeLine: CheckScene["changeLine"] = async ({ station: fields = {}, line = {} } = {}) => {
    const version = Number((await ada.request("GET", path)).body?.version);
    const stations = [{ ...work, ...station, ...fields }, ...others];
    const changed = await replace(ada, path, version, { ...sceneLine, replayCheck: sceneTerms, stations, ...line });
    if (changed.status !== 200) throw new Error(changed.text);
  };
  await changeLine();
  const { set, runIds } = await fillSet(place, runs);
  const marked = await ada.request("POST", `${set}/guards-changes`);
  if (marked.status !== 204) throw new Error(marked.text);
  let keys = 0;
  const readCheck = async (id: unknown) => (await ada.request("GET", `${team}/replay-checks/${id}`)).body ?? {};
  return {
    ...place,
    set,
    setId: set.split("/").at(-1) ?? "",
    runIds,
    changeLine,
    readCheck,
    plan: (more = {}) => ({ lineId, stationKey: "work", station: { ...plannedStation, ...station }, ...more }),
    check: (body, key, client = ada) => {
      keys += 1;
      return client.request("POST", `${team}/replay-checks`, body, { "idempotency-key": key ?? `check-${keys}` });
    },
    untilVerdict: (id, verdict) =>
      until(`the check ${verdict}`, async () => {
        const check = await readCheck(id);
        return check.verdict === verdict ? check : null;
      }),
  };
}

/**
 * Works on the runner's next `count` copies. A copy fails if `fails` returns true for its job, and succeeds otherwise.
 */
export async function workCopies(
  { peer }: ReplayScene,
  count: number,
  fails: (job: Job) => boolean = () => false,
): Promise<void> {
  for (let n = 0; n < count; n++) {
    const job = await peer.job();
    peer.start(job);
    const failure = { code: "harness-failed", message: "It gave up.", output: "" } as const;
    if (fails(job)) peer.end(job, { outcome: "failed", failure, spent: { amount: 1, currency: "EUR" } });
    else peer.end(job, { ending: { kind: "finish", note: "" }, spent: { amount: 1, currency: "EUR" } });
  }
}

/** Whether a job runs under the planned prompt. */
export function isPlanned({ station: { prompt } }: Job): boolean {
  return prompt === plannedStation.prompt;
}
