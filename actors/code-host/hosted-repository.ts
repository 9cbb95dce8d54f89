import type { Turn } from "../../runtime/turns/turn.js";
import {
  type HostedKey,
  type HostedRepository,
  hostedNames,
  hostedRepositories,
  MAX_FORMER_NAMES,
} from "./hosted-repository.table.js";

/** A repository name as the code host reported it. */
export interface ReportedRepository extends HostedKey {
  /** The reported `owner/name`. */
  readonly name: string;
  /** Previous names, including those used in requests to the host. */
  readonly formerNames: readonly string[];
  readonly installationId: number;
  /**
   * The time of the report, by the code host's clock, in milliseconds since 1970. Null if the report has no time or is
   * known to be current.
   */
  readonly asOfMs: number | null;
}

/**
 * Stores the name that was reported for a repository, in a turn of its pull request log. Returns whether the
 * repository's name changed. A report that is older than the stored name does not change the name.
 */
export function storeHosted(turn: Turn, reported: ReportedRepository): boolean {
  const { partition } = turn.self;
  const { host, repositoryId, installationId, asOfMs } = reported;
  const before = hostedRepositories.get(turn, partition, host, repositoryId);
  const isLate = before !== undefined && asOfMs !== null && asOfMs < before.asOfMs;
  const name = isLate ? before.name : reported.name;
  const isRenamed = !isSame(before?.name ?? name, name);
  const known = [
    ...reported.formerNames,
    ...(isLate ? [reported.name] : []),
    before?.name ?? [],
    before?.formerNames ?? [],
  ];
  const former = distinct(known.flat()).filter((one) => !isSame(one, name));
  const row: HostedRepository = {
    name,
    formerNames: former.slice(0, MAX_FORMER_NAMES),
    log: before?.log ?? turn.self.id,
    installationId: isLate ? before.installationId : installationId,
    asOfMs: Math.max(before?.asOfMs ?? 0, asOfMs ?? 0),
  };
  const isNews =
    before === undefined ||
    before.name !== name ||
    before.installationId !== row.installationId ||
    before.formerNames.length !== row.formerNames.length;
  if (!isNews) return false;
  hostedRepositories.put(turn, partition, [host, repositoryId], row);
  hostedNames.put(turn, partition, name.toLowerCase(), { host, repositoryId });
  for (const one of row.formerNames) {
    // Do not overwrite a name that another repository has taken since.
    if (hostedNames.get(turn, partition, one.toLowerCase()) === undefined)
      hostedNames.put(turn, partition, one.toLowerCase(), { host, repositoryId });
  }
  for (const one of former.slice(MAX_FORMER_NAMES)) forgetName(turn, { host, repositoryId }, one);
  return isRenamed;
}

/** Removes a repository, and the entries of its names. Call it when no line refers to the repository any longer. */
export function forgetHosted(turn: Turn, key: HostedKey): void {
  const { partition } = turn.self;
  const row = hostedRepositories.get(turn, partition, key.host, key.repositoryId);
  if (row === undefined) return;
  for (const name of [row.name, ...row.formerNames]) forgetName(turn, key, name);
  hostedRepositories.remove(turn, partition, key.host, key.repositoryId);
}

function forgetName(turn: Turn, { host, repositoryId }: HostedKey, name: string): void {
  const { partition } = turn.self;
  const to = hostedNames.get(turn, partition, name.toLowerCase());
  if (to?.host === host && to.repositoryId === repositoryId) hostedNames.remove(turn, partition, name.toLowerCase());
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Removes repeated names, ignoring case. */
function distinct(names: readonly string[]): readonly string[] {
  return [...new Map(names.toReversed().map((name) => [name.toLowerCase(), name])).values()].toReversed();
}
