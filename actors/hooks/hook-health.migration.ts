import { rowSpace } from "../../storage/keys.js";
import { putRow, removeTable } from "../../storage/migration-walks.js";
import type { Slice, Walk } from "../../storage/migrations.js";
import type { Change, Entry } from "../../storage/store.js";

interface OldFiring {
  readonly hookId: string;
  readonly state: string;
  readonly endedAt: string | null;
  readonly retryAt: string | null;
}

type OldEnd = Pick<OldFiring, "state" | "endedAt">;

interface NewHour {
  readonly hour: number;
  readonly delivered: number;
  readonly refused: number;
  readonly failed: number;
}

interface NewCounts {
  readonly waiting: number;
  readonly hours: readonly NewHour[];
}

const HOURS = 25;
const HOUR_MS = 60 * 60 * 1_000;

/**
 * Counts the stored firings of each hook by hour and result. Also lists the firings that wait for a retry, by hook and
 * time. Firings that retention already removed are not counted. The migration first removes all counts, so it can run
 * again.
 */
export const hookHealthWalks: readonly Walk[] = [
  removeTable("hook-health"),
  { under: [rowSpace, "hook-firing"], changes: countFirings },
];

/** Adds a slice's firings to the counts of the earlier slices, which are in the store. */
function countFirings({ partition, entries, reading }: Slice): readonly Change[] {
  const counted = new Map<string, NewCounts | null>();
  const find = (hookId: string): NewCounts | null => {
    if (reading.get([partition, rowSpace, "resource", "hook", hookId]) === undefined) return null;
    return reading.get<NewCounts>([partition, rowSpace, "hook-health", hookId]) ?? { waiting: 0, hours: [] };
  };
  const retries = entries.flatMap((entry): Change[] => {
    const { value, key } = entry as Entry<OldFiring>;
    const { hookId, retryAt } = value;
    const [teamId = "", id = ""] = key.slice(3);
    const end = reading.get<OldEnd>([partition, rowSpace, "hook-firing-end", teamId, id]) ?? value;
    const counts = counted.get(hookId) === undefined ? find(hookId) : (counted.get(hookId) ?? null);
    counted.set(hookId, counts === null ? null : withFiring(counts, end));
    const waits = end.state === "waiting" && retryAt !== null;
    return waits ? [putRow({ partition }, "hook-retry", [hookId, Date.parse(retryAt), id], true)] : [];
  });
  const changed = [...counted].flatMap(([hookId, counts]) =>
    counts === null ? [] : [putRow({ partition }, "hook-health", [hookId], counts)],
  );
  return [...retries, ...changed];
}

function withFiring({ waiting, hours }: NewCounts, { state, endedAt }: OldEnd): NewCounts {
  if (state === "waiting") return { waiting: waiting + 1, hours };
  if (endedAt === null || (state !== "delivered" && state !== "refused" && state !== "failed"))
    return { waiting, hours };
  const hour = Math.floor(Date.parse(endedAt) / HOUR_MS);
  const same = hours.find((each) => each.hour === hour) ?? { hour, delivered: 0, refused: 0, failed: 0 };
  const others = hours.filter((each) => each.hour !== hour);
  const all = [...others, { ...same, [state]: same[state] + 1 }].sort((left, right) => left.hour - right.hour);
  const latest = all.at(-1)?.hour ?? hour;
  return { waiting, hours: all.filter((each) => each.hour > latest - HOURS) };
}
