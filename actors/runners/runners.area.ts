import type { Subscriber } from "../../runtime/cells/actor-type.js";
import { eachRow, putRow, removeRow } from "../../storage/migration-walks.js";
import type { Walk } from "../../storage/migrations.js";
import { trustActor } from "../access/trusts/trust.machine.js";
import { defineArea } from "../area.js";
import type { AllowList } from "../outbound/http/allow-list.js";
import { dispatcherActor } from "./dispatcher.machine.js";
import { dispatcherRef, type PoolsChanged } from "./dispatcher.messages.js";
import { poolMinting } from "./pool-exchange.js";
import { lanes, queuedNeeds, queuedRuns } from "./run-queue.table.js";
import { connectedRunnerSource, runnerActor } from "./runner.machine.js";
import { claims, connectedRunners, outbox, runners } from "./runner.table.js";
import { runnerPoolKind } from "./runner-pool.kind.js";
import { runnerTrustKind } from "./runner-trust.kind.js";
import { workspaceRunnersKind } from "./workspace-runners.kind.js";

/** Places waiting runs at once after a change of a pool or of the workspace's runner settings. */
const poolChangesSubscriber: Subscriber = {
  name: "runs are placed when a runner pool changes",
  facts: ["runner-pool.changed", "workspace-runners.changed"],
  handle: (_fact, turn) => {
    const message: PoolsChanged = { type: "pools.changed" };
    turn.send(dispatcherRef(turn.self.partition), message);
  },
};

const QUEUE = "queued-run";

/** Adds the era 0 to the keys of queued runs. The keys were `[line, queuedAtMs, run]`. */
const queueEraWalks: readonly Walk[] = [
  eachRow(QUEUE, (row, place) => {
    const [line, ...behind] = place.id;
    if (line === undefined || place.id.length !== 3) return [];
    return [removeRow(place, QUEUE, place.id), putRow(place, QUEUE, [line, 0, ...behind], row)];
  }),
];

/** The parts of a resource that the migration below reads. */
interface StoredResource {
  readonly kind: string;
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Adds the share of slots for replays to the settings of workspaces' runners. */
const replaySlotsWalks: readonly Walk[] = [
  eachRow<StoredResource>("resource", (row, place) => {
    if (row.kind !== "workspace-runners" || "replaySlotsPercent" in row.fields) return [];
    const fields = { ...row.fields, replaySlotsPercent: null };
    return [putRow(place, "resource", [row.kind, row.id], { ...row, fields })];
  }),
];

/** Runners with their pools, and the dispatcher that places runs on them. */
export const runnersArea = defineArea({
  name: "runners",
  kinds: (deployment: { readonly allowList: AllowList }) => [
    runnerPoolKind(deployment),
    workspaceRunnersKind,
    runnerTrustKind(deployment),
  ],
  actors: () => [trustActor(poolMinting), dispatcherActor, runnerActor],
  tables: [runners, claims, outbox, queuedRuns, queuedNeeds, lanes],
  directories: [connectedRunners],
  directorySources: () => [connectedRunnerSource],
  subscribers: [poolChangesSubscriber],
  migrations: [
    { to: 6, title: "runs are queued in eras of the clock", walks: queueEraWalks },
    { to: 8, title: "workspaces say how many slots replays may take", walks: replaySlotsWalks },
  ],
});
