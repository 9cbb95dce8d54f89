import type { Reading } from "../../storage/store.js";
import { type HostedKey, type HostedRepository, hostedNames, hostedRepositories } from "./hosted-repository.table.js";

/** A repository as somebody names it: by its name, and by its number where that is known. */
export interface NamedRepository {
  /** `owner/name`, in any case, now or before it was renamed or transferred. */
  readonly repository: string;
  readonly host?: string;
  /** Its number at the host. */
  readonly repositoryId?: number | undefined;
}

/** The repository that is known by its number, or else by a name that it has or had; undefined for none. */
export function findHosted(
  reading: Reading,
  workspaceId: string,
  { repository, host, repositoryId }: NamedRepository,
): (HostedRepository & HostedKey) | undefined {
  const named =
    host !== undefined && repositoryId !== undefined
      ? { host, repositoryId }
      : hostedNames.get(reading, workspaceId, repository.toLowerCase());
  const row = named && hostedRepositories.get(reading, workspaceId, named.host, named.repositoryId);
  return row && { ...row, ...named };
}

/** The names, in lower case, that lead to the repository; the present one comes first. */
export function listNames(reading: Reading, workspaceId: string, named: NamedRepository): readonly string[] {
  const found = findHosted(reading, workspaceId, named);
  if (found === undefined) return [named.repository.toLowerCase()];
  const leadsThere = (name: string) => {
    const to = hostedNames.get(reading, workspaceId, name);
    return to?.host === found.host && to.repositoryId === found.repositoryId;
  };
  return [found.name, ...found.formerNames].map((name) => name.toLowerCase()).filter(leadsThere);
}

/**
 * The keys under which rows about the repository are found: its number at its host, and its names, which rows have that
 * were stored before the number was known.
 */
export function listRepositoryKeys(reading: Reading, workspaceId: string, named: NamedRepository): readonly string[] {
  const found = findHosted(reading, workspaceId, named);
  const { host, repositoryId } = found ?? named;
  const number =
    host === undefined || repositoryId === undefined ? [] : [toRepositoryKey({ ...named, host, repositoryId })];
  return [...number, ...listNames(reading, workspaceId, named)];
}

/** The key of a row about a repository. A name has a slash, and a number at a host has none. */
export function toRepositoryKey({ repository, host, repositoryId }: NamedRepository): string {
  return repositoryId === undefined ? repository.toLowerCase() : `${repositoryId}@${host}`;
}

/** The id of the log of the repository: the name under which it was first known. */
export function findLogId(reading: Reading, workspaceId: string, named: NamedRepository): string {
  const known = findHosted(reading, workspaceId, named);
  if (known !== undefined) return known.log;
  const { repository, repositoryId } = named;
  const taken = hostedNames.get(reading, workspaceId, repository.toLowerCase());
  // Another repository has taken the name of one that was renamed, whose log goes by that name.
  return taken === undefined || repositoryId === undefined ? repository.toLowerCase() : toRepositoryKey(named);
}
