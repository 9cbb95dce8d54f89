import { listUnsentRequests } from "../../actors/hooks/unsent-requests.js";
import { listUnreachableHosts } from "../../actors/integrations/unreachable-hosts.js";
import type { AllowList } from "../../actors/outbound/http/allow-list.js";
import type { Scheduler } from "../../runtime/clock.js";
import { isDamage, type RuntimeLog } from "../../runtime/runtime.js";
import { GLOBAL_PARTITION, metaSpace } from "../../storage/keys.js";
import { nextPartition } from "../../storage/partitions.js";
import type { Key, Reading, Store } from "../../storage/store.js";

/** Warnings that are written one by one; the others are counted. */
const MAX_WARNINGS = 100;
const HOOK = "a hook names a host that is not allowed: its step fails with not-allowed";
const INTEGRATION = "an integration names a host that is not allowed: no request is sent there";

/** The list that was checked last, and whether nothing was found: what is written under it later is checked then. */
const CHECKED_KEY: Key = [GLOBAL_PARTITION, metaSpace, "allowed"];
interface Checked {
  readonly outboundAllow: string;
  readonly isClean: boolean;
}

export interface NotAllowedOptions {
  readonly reading: Reading;
  readonly store: Pick<Store, "commit">;
  /** The setting that `allowList` was made of. */
  readonly outboundAllow: string;
  readonly allowList: AllowList;
  readonly log: Pick<RuntimeLog, "warn">;
  readonly scheduler: Pick<Scheduler, "defer">;
  /** Whether to end early: the service stops, or the list has changed. */
  readonly isOver: () => boolean;
}

/**
 * Logs which hooks and integrations name hosts that `OUTBOUND_ALLOW` does not: what they send fails, and is not sent again.
 * A list under which all were allowed before is not checked again. Reads one workspace in each round of the event loop,
 * since the service already serves. Workspaces with damaged rows are left out; the log names the rows.
 */
export async function warnNotAllowed(options: NotAllowedOptions): Promise<void> {
  const { reading, store, outboundAllow, log, scheduler, isOver } = options;
  if (isKnownClean(reading, outboundAllow)) return;
  let found = 0;
  for (let at = nextPartition(reading, ""); at !== undefined; at = nextPartition(reading, at)) {
    for (const { message, ...details } of at === GLOBAL_PARTITION ? [] : listOf(at, options)) {
      found += 1;
      if (found <= MAX_WARNINGS) log.warn(message, details);
    }
    await new Promise<void>((resolve) => scheduler.defer(resolve));
    if (isOver()) return;
  }
  if (found > MAX_WARNINGS) log.warn("more hooks and integrations name hosts that are not allowed", { found });
  const checked: Checked = { outboundAllow, isClean: found === 0 };
  await store.commit([{ op: "put", key: CHECKED_KEY, value: checked }]);
}

function isKnownClean(reading: Reading, outboundAllow: string): boolean {
  try {
    const before = reading.get<Checked>(CHECKED_KEY);
    return before?.outboundAllow === outboundAllow && before.isClean;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return false;
  }
}

/** The warnings of a workspace. */
function listOf(workspaceId: string, { reading, allowList }: NotAllowedOptions) {
  try {
    return [
      ...listUnsentRequests(reading, workspaceId, allowList).map((each) => ({ message: HOOK, ...each })),
      ...listUnreachableHosts(reading, workspaceId, allowList).map((each) => ({ message: INTEGRATION, ...each })),
    ];
  } catch (error) {
    if (!isDamage(error)) throw error;
    return [];
  }
}
