import type { Clock } from "../../runtime/clock.js";
import {
  actorSpace,
  deadLetterSpace,
  dedupSpace,
  effectSpace,
  feedSpace,
  rowSpace,
  timerSpace,
  undeliveredSpace,
} from "../../storage/keys.js";
import { rewriteSpace } from "../../storage/migration-walks.js";
import { SEALED_FORMAT } from "../../storage/stored-value.js";
import { type ActorParts, defineArea } from "../area.js";
import { bodies, sweeping, unused, uses } from "./blob.table.js";
import { blobSweeperActor } from "./blob-sweeper.machine.js";
import { leftRows } from "./owned-rows.js";
import { pins } from "./pins.js";
import { prunedMarks } from "./pruned-before.js";
import { retentionEffect } from "./retention.effects.js";
import { defaultRetention, type RetentionPeriods } from "./retention.js";
import { retentionSweeperActor } from "./retention-sweeper.machine.js";

interface RetentionParts extends Pick<ActorParts, "retained"> {
  /** How long to store rows after their end; {@link defaultRetention} by default. */
  readonly retention?: RetentionPeriods;
}

/** Rewrites every value, so that it has a checksum. */
const checksumWalks = [
  // Use small slices for these spaces: one value can have megabytes, and memory holds a complete slice.
  ...[rowSpace, effectSpace, undeliveredSpace, deadLetterSpace, feedSpace].map((space) =>
    rewriteSpace(space, { of: "all", maxEntries: 32 }),
  ),
  ...[actorSpace, timerSpace, dedupSpace].map((space) => rewriteSpace(space, { of: "all" })),
];

/** Bodies, pins, and the removal of rows whose retention period has passed. */
export const tablesArea = defineArea({
  name: "tables",
  actors: ({ retained, retention = defaultRetention }: RetentionParts) => [
    blobSweeperActor,
    retentionSweeperActor(retained, retention),
  ],
  tables: [bodies, uses, unused, sweeping, pins, leftRows, prunedMarks],
  effects: ({ clock }: { readonly clock: Clock }) => [retentionEffect({ clock })],
  migrations: [{ to: SEALED_FORMAT, title: "every value has a checksum", walks: checksumWalks }],
});
