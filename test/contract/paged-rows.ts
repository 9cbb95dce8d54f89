import { decisions, standingDecisions } from "../../actors/decisions/decision.table.js";
import { actionRuns } from "../../actors/integration-work/actions/action-run.table.js";
import { deliveries } from "../../actors/integration-work/deliveries/delivery.table.js";
import { newIntegrationConnection, storeIntegrationConnection } from "../../actors/integrations/connection.table.js";
import { replayCopies } from "../../actors/replays/copies/replay-copy.table.js";
import { runners } from "../../actors/runners/runner.table.js";
import { approvals } from "../../actors/runs/approval.table.js";
import type { RunRow } from "../../actors/runs/run.js";
import { runSteps, runs } from "../../actors/runs/run.table.js";
import { searchIterations } from "../../actors/searches/iterations/search-iteration.table.js";
import { toolCalls } from "../../actors/tool-calls/tool-call.table.js";
import type { Store } from "../../storage/store.js";
import { storeCheck } from "../support/check-rows.js";
import { copyRow } from "../support/pictured-replays.js";
import { storePullRequest } from "../support/pull-request-rows.js";
import { storeReplay } from "../support/replay-rows.js";
import { iterationRow, storeSearch } from "../support/search-rows.js";
import type { TestService } from "../support/service.js";
import { memoryRows } from "../support/turn.js";

type Place = "workspaceId" | "teamId" | "lineId" | "stationId" | "setId" | "integrationId" | "poolId" | "taskRunId";

interface Filling {
  readonly service: TestService;
  readonly store: Store;
  readonly known: Readonly<Record<Place, string>>;
  /** Three people of the workspace. The first is on the team. */
  readonly userIds: readonly string[];
}

const at = "2026-11-28T09:00:00.000Z";
const COUNT = 3;

type Rows = ReturnType<typeof memoryRows>;

/** Writes three rows of each list that the API alone cannot fill. Returns the ids of the runs that have steps. */
export async function storeEveryList(filling: Filling): Promise<{ replayRunId: string; searchRunId: string }> {
  const { service, store, known } = filling;
  const { workspaceId } = known;
  const { runtime } = service;
  const repeat = async (store: (n: number) => Promise<unknown>) => {
    for (let n = 0; n < COUNT; n += 1) await store(n);
  };
  await repeat(() => storeCheck(store, { ...known, id: runtime.newId("chk") }));
  await repeat(() => storeReplay(store, { ...known, id: runtime.newId("rep") }));
  await repeat(() => storeSearch(store, { ...known, id: runtime.newId("sea") }));
  await repeat(() => storePullRequest(store, workspaceId, { teamId: known.teamId, id: runtime.newId("pr") }));
  const replayId = await storeReplay(store, { ...known, id: runtime.newId("rep") });
  const { searchId } = await storeSearch(store, { ...known, id: runtime.newId("sea") });
  const run = runs.get(runtime.reading, workspaceId, known.taskRunId);
  if (run === undefined) throw new Error("the task has no run");
  const rows = memoryRows();
  const made = { rows, filling, run };
  const ids = { replayRunId: putReplayRun(made, replayId), searchRunId: putSearchRun(made, searchId) };
  for (const runId of [run.id, ...Object.values(ids)]) putSteps(made, runId);
  for (let n = 0; n < COUNT; n += 1) {
    runs.insert(rows, workspaceId, { ...run, id: runtime.newId("run") });
    putOfRun(made);
    putOfIntegration(made, n);
    putOfTeam(made, n);
  }
  await store.commit(rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put", key, value }) as const));
  return ids;
}

interface Made {
  readonly rows: Rows;
  readonly filling: Filling;
  readonly run: RunRow;
}

function putReplayRun({ rows, filling: { service, known }, run }: Made, replayId: string): string {
  const id = service.runtime.newId("run");
  const copy = copyRow({ replayId, place: 0, repeat: 1, taskId: "task_1" }, "+");
  replayCopies.insert(rows, known.workspaceId, { ...copy, runId: id });
  runs.insert(rows, known.workspaceId, { ...run, id, taskId: null, owner: { kind: "replay", id: replayId } });
  return id;
}

function putSearchRun({ rows, filling: { service, known }, run }: Made, searchId: string): string {
  const id = service.runtime.newId("run");
  const iteration = iterationRow({ id: service.runtime.newId("sit"), searchId, runId: id });
  searchIterations.insert(rows, known.workspaceId, iteration);
  runs.insert(rows, known.workspaceId, { ...run, id, taskId: null, owner: { kind: "search", id: iteration.id } });
  return id;
}

function putSteps({ rows, filling: { known } }: Made, runId: string): void {
  for (let index = 0; index < COUNT; index += 1) {
    runSteps.insert(rows, known.workspaceId, {
      runId,
      index,
      kind: "message",
      text: "done",
      tool: null,
      spent: null,
      at,
    });
  }
}

function putOfRun({ rows, filling, run }: Made): void {
  const { service, known, userIds } = filling;
  const common = { runId: run.id, teamId: known.teamId, tool: "net", inputs: "{}", edited: null };
  approvals.insert(rows, known.workspaceId, {
    ...common,
    id: service.runtime.newId("apr"),
    kind: "permission",
    approver: userIds[0] ?? "",
    reason: "",
    state: "open",
    note: null,
    askedAt: at,
    answeredAt: null,
    answeredBy: null,
    request: "1",
  });
  toolCalls.insert(rows, known.workspaceId, {
    ...common,
    id: service.runtime.newId("call"),
    taskId: run.taskId,
    teamId: known.teamId,
    integrationId: known.integrationId,
    integration: "tracker",
    state: "done",
    code: null,
    message: null,
    approvalId: null,
    actsAs: "team",
    askedAt: at,
    begunAt: at,
    endedAt: at,
    askedDigest: "d",
    rule: null,
    method: null,
    output: null,
  });
}

function putOfIntegration({ rows, filling }: Made, n: number): void {
  const { service, known, userIds } = filling;
  const { workspaceId, teamId, integrationId } = known;
  storeIntegrationConnection(rows, workspaceId, {
    ...newIntegrationConnection(integrationId, userIds[n] ?? ""),
    state: "connected",
  });
  const common = { teamId, integrationId, state: "failed", endedAt: at, retryAt: null } as const;
  actionRuns.insert(rows, workspaceId, {
    ...common,
    id: service.runtime.newId("act"),
    action: "none",
    binding: null,
    begunAt: at,
    resends: null,
    resentAs: null,
    attempts: [],
    values: "{}",
  });
  deliveries.insert(rows, workspaceId, {
    ...common,
    id: service.runtime.newId("dlv"),
    source: "webhook",
    key: null,
    receivedAt: at,
    reason: null,
    attempts: 0,
    repeated: 0,
    redeliveryOf: null,
    redeliveredAs: null,
    block: "webhook",
    headers: {},
    body: null,
    cursor: null,
    causes: [],
    skipped: 0,
  });
}

function putOfTeam({ rows, filling, run }: Made, n: number): void {
  const { service, known } = filling;
  const { workspaceId, teamId, poolId } = known;
  const id = service.runtime.newId("dec");
  const [taskId, paths] = [run.taskId ?? "", ["a.ts"]];
  const drafted = { kind: "trade-off", title: "Poll", why: "", alternatives: [], paths, steps: [1] } as const;
  decisions.put(rows, workspaceId, [taskId, id], {
    ...drafted,
    alternatives: [],
    steps: [1],
    id,
    taskId,
    teamId,
    runId: run.id,
    disputes: [],
    draftedAt: at,
  });
  const url = "https://code.example/acme/app/pull/1";
  standingDecisions.insert(rows, workspaceId, {
    id,
    mergedAtMs: n,
    taskId,
    teamId,
    repository: "acme/app",
    url,
    paths,
  });
  const runnerId = service.runtime.newId("runner");
  const offer = { name: `r${n}`, connected: true, since: at, slots: 1, labels: [], harnesses: ["other"] };
  runners.put(rows, workspaceId, runnerId, { ...offer, runnerId, poolId });
}
