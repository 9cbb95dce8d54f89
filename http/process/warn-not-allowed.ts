import { listUnsentRequests } from "../../actors/hooks/unsent-requests.js";
import { listUnreachableHosts } from "../../actors/integrations/unreachable-hosts.js";
import type { AllowList } from "../../actors/outbound/http/allow-list.js";
import type { Scheduler } from "../../runtime/clock.js";
import { isDamage, type RuntimeLog } from "../../runtime/runtime.js";
import { GLOBAL_PARTITION, metaSpace } from "../../storage/keys.js";
import { nextPartition } from "../../storage/partitions.js";
import type { Key, Reading, Store } from "../../storage/store.js";

/** Maximum number of warnings to log one by one. The rest is only counted. */
const MAX_WARNINGS = 100;
const HOOK = "a hook names a host that is not allowed: its step fails with not-allowed";
const INTEGRATION = "an integration names a host that is not allowed: no request is sent there";

/**
 * The key of the last checked value of `OUTBOUND_ALLOW`, and whether the check found no problem. While the setting has
 * the same value, the service checks each new definition when it is written.
 */
const CHECKED_KEY: Key = [GLOBAL_PARTITION, metaSpace, "allowed"];
interface Checked {
  readonly outboundAllow: string;
  readonly isClean: boolean;
}

export interface NotAllowedOptions {
  readonly reading: Reading;
  readonly store: Pick<Store, "commit">;
  /** The setting that `allowList` was parsed from. */
  readonly outboundAllow: string;
  readonly allowList: AllowList;
  readonly log: Pick<RuntimeLog, "warn">;
  readonly scheduler: Pick<Scheduler, "defer">;
  /** Returns whether to stop early, because the service stops or the list has changed. */
  readonly isOver: () => boolean;
}

/**
 * Logs the hooks and integrations that name hosts outside `OUTBOUND_ALLOW`: their requests to these hosts fail and are
 * not retried. Does nothing if an earlier check with the same list found nothing. Skips workspaces with damaged rows.
 * Reads one workspace per round of the event loop, because the service already serves requests.
 */
export async function warnNotAllowed(options: NotAllowedOptions): Promise<void> {
  const { reading, store, outboundAllow, log, scheduler, isOver } = options;
  if (isKnownClean(reading, outboundAllow)) return;
  let found = 0;
  for (let at = nextPartition(reading, ""); at !== undefined; at = nextPartition(reading, at)) {
    for (const { message, ...details } of at === GLOBAL_PARTITION ? [] : toList(at, options)) {
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

/** Returns the warnings for a workspace. */
function toList(workspaceId: string, { reading, allowList }: NotAllowedOptions) {
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
