import { topic } from "../../runtime/feeds/topic.js";
import { table } from "../../storage/table.js";
import type { Caller } from "../caller.js";
import { retain } from "../tables/retention.js";
import { timeText } from "../time-text.js";
import type { ResourceTurn } from "./resource-turn.js";

/** The author of a change. */
interface ChangedBy {
  readonly kind: "person" | "token" | "service";
  readonly userId: string | null;
  readonly tokenId: string | null;
  readonly trust: string | null;
}

/** One create, update or delete. */
export interface ChangeRecord {
  readonly seq: number;
  readonly resource: string;
  readonly resourceId: string;
  readonly key: string;
  readonly action: "created" | "updated" | "deleted";
  readonly by: ChangedBy;
  readonly client: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly at: string;
}

/** Key: `[seq]`. */
export const records = table<ChangeRecord>("configuration-change");
/**
 * Key: `["last"]`. Value: the number of the last change. Finding this number in the records would be more expensive.
 */
export const sequence = table<number>("configuration-sequence");

/** The retention of change records. The retention period of a record starts at the time of the change. */
export const changeRetention = retain(records, {
  period: "changes",
  startedAtMs: ({ at }) => Date.parse(at),
  endedAtMs: ({ at }) => Date.parse(at),
  remove: (turn, { seq }) => {
    records.remove(turn, turn.self.partition, seq);
    return true;
  },
});

/** A configuration change, as the streams of a workspace or a team publish it. */
interface ConfigurationChanged {
  readonly type: "configuration";
  readonly change: ChangeRecord;
}

const workspaceTopic = topic<ConfigurationChanged>("workspace");
const teamTopic = topic<ConfigurationChanged>("team");

/**
 * Appends a record to the workspace's change log, in the batch of the change. If the change has no caller, its author
 * is the service.
 */
export function recordChange(
  turn: ResourceTurn,
  change: Omit<ChangeRecord, "seq" | "by" | "at"> & { readonly caller: Caller | null },
  /** The team whose stream also publishes the change; null to publish it only on the workspace's stream. */
  teamId: string | null,
): void {
  const { resource, resourceId, key, action, client, details } = change;
  const seq = (sequence.get(turn, turn.self.partition, "last") ?? 0) + 1;
  sequence.put(turn, turn.self.partition, "last", seq);
  const by = toChangedBy(change.caller);
  const at = timeText(turn.now);
  const record: ChangeRecord = { seq, resource, resourceId, key, action, client, details, by, at };
  records.put(turn, turn.self.partition, record.seq, record);
  const data = { type: "configuration", change: record } as const;
  turn.publishChange(workspaceTopic(turn.self.partition), data);
  if (teamId !== null) turn.publishChange(teamTopic(teamId), data);
}

function toChangedBy(caller: Caller | null): ChangedBy {
  if (caller === null) return { kind: "service", userId: null, tokenId: null, trust: null };
  return caller.kind === "person"
    ? { kind: "person", userId: caller.userId, tokenId: null, trust: null }
    : { kind: "token", userId: caller.issuedBy, tokenId: caller.tokenId, trust: caller.trust };
}
