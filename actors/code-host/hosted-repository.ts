import type { Turn } from "../../runtime/turn.js";
import {
  type HostedKey,
  type HostedRepository,
  hostedNames,
  hostedRepositories,
  MAX_FORMER_NAMES,
} from "./hosted-repository.table.js";

/** What the code host told of a repository's name. */
export interface ToldRepository extends HostedKey {
  /** `owner/name`, as it is called. */
  readonly name: string;
  /** Names that it was called or asked for by before. */
  readonly formerNames: readonly string[];
  readonly installationId: number;
  /** The code host's time of what it told, in milliseconds since 1970; null for what is so now, or has no time. */
  readonly asOfMs: number | null;
}

/**
 * Stores what a repository is called, in a turn of its log; returns whether that is another name than before. What was
 * told earlier than the name that is known changes no name.
 */
export function keepHosted(turn: Turn, told: ToldRepository): boolean {
  const { partition } = turn.self;
  const { host, repositoryId, installationId, asOfMs } = told;
  const before = hostedRepositories.get(turn, partition, host, repositoryId);
  const isLate = before !== undefined && asOfMs !== null && asOfMs < before.asOfMs;
  const name = isLate ? before.name : told.name;
  const isRenamed = !isSame(before?.name ?? name, name);
  const known = [...told.formerNames, ...(isLate ? [told.name] : []), before?.name ?? [], before?.formerNames ?? []];
  const former = distinct(known.flat()).filter((one) => !isSame(one, name));
  const row: HostedRepository = {
    ...{ name, formerNames: former.slice(0, MAX_FORMER_NAMES), log: before?.log ?? turn.self.id },
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
    // A name that another repository has by now is that one's.
    if (hostedNames.get(turn, partition, one.toLowerCase()) === undefined)
      hostedNames.put(turn, partition, one.toLowerCase(), { host, repositoryId });
  }
  for (const one of former.slice(MAX_FORMER_NAMES)) forgetName(turn, { host, repositoryId }, one);
  return isRenamed;
}

/** Forgets a repository that no line names any more. */
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

/** Each name once, whatever its case. */
function distinct(names: readonly string[]): readonly string[] {
  return [...new Map(names.toReversed().map((name) => [name.toLowerCase(), name])).values()].toReversed();
}
