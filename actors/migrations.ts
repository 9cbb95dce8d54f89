import {
  actorSpace,
  deadLetterSpace,
  dedupSpace,
  effectSpace,
  feedSpace,
  rowSpace,
  timerSpace,
  undeliveredSpace,
} from "../storage/keys.js";
import { removeTable, rewriteSpace } from "../storage/migration-walks.js";
import type { MigrationStep } from "../storage/migrations.js";
import { SEALED_FORMAT } from "../storage/stored-value.js";
import { deliveryGroupWalks } from "./integration-work/intake/delivery-group.migration.js";
import { webhookTermsWalks } from "./integrations/integration.migration.js";
import { pullRequestTermsWalks } from "./lines/line.migration.js";
import { heldCommitWalks } from "./replays/sets/entry-commits.migration.js";
import { queueEraWalks } from "./runners/run-queue.migration.js";
import { replaySlotsWalks } from "./runners/workspace-runners.migration.js";
import { approverWalks } from "./runs/approval.migration.js";
import { runBaseWalks, runInputWalks } from "./runs/run-input.migration.js";
import { compositeTaskIndexes } from "./tasks/task.migration.js";

/** Rows include bodies of megabytes, and a slice is held in memory, so these spaces use small slices. */
const checksumWalks = [
  ...[rowSpace, effectSpace, undeliveredSpace, deadLetterSpace, feedSpace].map((space) =>
    rewriteSpace(space, { of: "all", maxEntries: 32 }),
  ),
  ...[actorSpace, timerSpace, dedupSpace].map((space) => rewriteSpace(space, { of: "all" })),
];

/**
 * The steps that migrate a store from an earlier release, in order. They run at the start, before the service accepts
 * requests (`storage/migrations.ts`). If you change the format or the keys of rows, add a step. A step is one line here
 * and one pure function in its area, in a file `<noun>.migration.ts`. Build it from the walks of
 * `storage/migration-walks.ts` (rows) and `runtime/cells/stored-actor-walks.ts` (states, messages and effects of actors):
 *
 *     { to: 9, title: "things have a colour", walks: [eachRow("thing", byColour), removeTable("thing-by-shape")] },
 *
 * Here `byColour(row, place)` returns the changes for one row:
 *
 *     [putRow(place, "thing-by-colour", [row.colour, …], true)]
 *
 * Read rows of megabytes (diffs) a few at a time: `eachRow("run-checkout", …, { maxEntries: 4 })`.
 *
 * Test a step with handwritten rows (`test/support/migrating.ts`). All steps are also tested on the store of the first
 * release: killed after every slice, run twice, and read as before (`test/actors/migrations.test.ts`,
 * `test/processes/fixture-store.test.ts`). Never change a released step.
 */
export const migrations: readonly MigrationStep[] = [
  { to: 2, title: "tasks have composite indexes", walks: compositeTaskIndexes },
  { to: 3, title: "runs have owners and inputs", walks: runInputWalks },
  {
    to: 4,
    title: "firings over all workspaces are not counted on disk",
    walks: [removeTable("hook-given-up", { of: "service" })],
  },
  { to: SEALED_FORMAT, title: "every value has a checksum", walks: checksumWalks },
  { to: 6, title: "runs are queued in eras of the clock", walks: queueEraWalks },
  { to: 7, title: "runs are found by the commits that they began from", walks: runBaseWalks },
  { to: 8, title: "workspaces say how many slots replays may take", walks: replaySlotsWalks },
  { to: 9, title: "the commits of replay sets are held", walks: heldCommitWalks },
  { to: 10, title: "lines say how pull requests are opened", walks: pullRequestTermsWalks },
  { to: 11, title: "approvals say who may answer them", walks: approverWalks },
  { to: 12, title: "repeated requests are not listed by age", walks: [removeTable("idempotency-age", { of: "all" })] },
  // No rows change. The step exists because an earlier release would not see such deliveries.
  { to: 13, title: "deliveries that wait may be stored together", walks: [] },
  { to: 14, title: "integrations say how deliveries authenticate and are answered", walks: webhookTermsWalks },
  { to: 15, title: "queued deliveries have rows of their own", walks: deliveryGroupWalks },
];
