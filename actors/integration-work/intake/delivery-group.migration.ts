import { rowSpace } from "../../../storage/keys.js";
import { eachRow, putRow, type RowLocation, removeRow, removeTable } from "../../../storage/migration-walks.js";
import type { Walk } from "../../../storage/migrations.js";
import type { Change } from "../../../storage/store.js";

const GROUPS = "delivery-group";
const GROUP_KEYS = "delivery-group-keys";
/** Number of groups per slice of the migration. A group has at most 32 members and 1 MiB of bodies. */
const GROUPS_AT_ONCE = 4;
/** Maximum size of a body in the row of its delivery, in bytes. A larger body has a row of its own. */
const MAX_IN_ROW_BYTES = 4 * 1024;
/** Length of the periods under which delivery keys are stored, in milliseconds. */
const PERIOD_MS = 7 * 24 * 60 * 60 * 1_000;

/** Queued deliveries that arrived together. Stored at `[integration, first delivery]`. */
interface Group {
  readonly teamId: string;
  readonly block: string;
  readonly receivedAt: string;
  readonly members: readonly Member[];
}
type Member = readonly [id: string, key: string | null, headers: Readonly<Record<string, string>>, content: Uint8Array];
/** A member that has a key, and the number of its repetitions. The list for a group is stored at the group's id. */
type MemberKey = readonly [key: string, id: string, repeated: number];
/** The delivery that was accepted under a key. Stored at `[integration, period, key]`. */
interface TakenKey {
  readonly deliveryId: string;
  readonly atMs: number;
}

/** Replaces a group by the rows of its members. The intake's queue already lists each member by its own id. */
function toDeliveries(group: Group, place: RowLocation): readonly Change[] {
  const keys = place.reading.get<readonly MemberKey[]>([place.partition, rowSpace, GROUP_KEYS, ...place.id]) ?? [];
  const repeated = new Map(keys.map(([, id, times]) => [id, times]));
  return [
    ...group.members.flatMap((member) => [
      // A delivery that already has a row of its own keeps this row unchanged.
      ...(place.reading.get([place.partition, rowSpace, "delivery", place.id[0] ?? "", member[0]]) !== undefined
        ? []
        : toDelivery(group, place, { member, repeated: repeated.get(member[0]) ?? 0 })),
      ...toTakenKey(group, place, member),
    ]),
    removeRow(place, GROUPS, place.id),
    removeRow(place, GROUP_KEYS, place.id),
  ];
}

/** Writes a member's row. A body that is not short gets a separate row. */
function toDelivery(
  { teamId, block, receivedAt }: Group,
  place: RowLocation,
  { member: [id, key, headers, content], repeated }: { readonly member: Member; readonly repeated: number },
): readonly Change[] {
  const [integrationId = ""] = place.id;
  const { length: bytes } = content;
  const isShort = bytes <= MAX_IN_ROW_BYTES;
  const body = isShort ? { digest: null, bytes, content } : { digest: null, bytes };
  const row = { teamId, source: "webhook", block, key, receivedAt, state: "accepted", headers, body };
  // These fields are stored all together or not at all.
  const later = {
    reason: null,
    endedAt: null,
    attempts: 0,
    retryAt: null,
    cursor: null,
    causes: [],
    repeated,
    skipped: 0,
    redeliveryOf: null,
    redeliveredAs: null,
  };
  const delivery = putRow(place, "delivery", [integrationId, id], repeated === 0 ? row : { ...row, ...later });
  return isShort ? [delivery] : [delivery, putRow(place, "delivery-body", [integrationId, id], content)];
}

/** Writes a member's key, unless a later delivery was accepted under the same key. */
function toTakenKey({ receivedAt }: Group, place: RowLocation, [id, key]: Member): readonly Change[] {
  if (key === null) return [];
  const [integrationId = ""] = place.id;
  const atMs = Date.parse(receivedAt);
  const at = [integrationId, Math.floor(atMs / PERIOD_MS), key];
  const known = place.reading.get<TakenKey>([place.partition, rowSpace, "delivery-key", ...at]);
  if (known !== undefined && known.atMs > atMs) return [];
  return [putRow(place, "delivery-key", at, { deliveryId: id, atMs })];
}

/**
 * Replaces each delivery group by rows, bodies and keys for its members, in the form of other queued deliveries. If a
 * group is damaged, its row stays, so that `signalbox doctor` reports it, and its deliveries leave the queue. If only a
 * group's keys are damaged, its members count as not repeated.
 */
export const deliveryGroupWalks: readonly Walk[] = [
  eachRow<Group>(GROUPS, toDeliveries, { maxEntries: GROUPS_AT_ONCE, skipsDamage: true }),
  // Remove the keys that the walk above did not remove: those of damaged groups.
  removeTable(GROUP_KEYS, { skipsDamage: true }),
];
