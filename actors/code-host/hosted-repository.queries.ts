import type { Reading } from "../../storage/store.js";
import { type HostedKey, type HostedRepository, hostedNames, hostedRepositories } from "./hosted-repository.table.js";

/** A reference to a repository: its name, and its number if known. */
export interface NamedRepository {
  /** The current or a former `owner/name`, in any case. */
  readonly repository: string;
  readonly host?: string;
  /** The repository's number at the host. */
  readonly repositoryId?: number | undefined;
}

/**
 * Finds a repository by its number if `host` and `repositoryId` are given, otherwise by its current or a former name.
 * Returns undefined if the repository is unknown.
 */
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

/**
 * Lists the repository's names in lower case, the current name first. Omits former names that now belong to another
 * repository. For an unknown repository, returns only the given name.
 */
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
 * Lists the keys that rows about the repository may have: its number at its host, if known, and its names. A row has a
 * name as key if the number was unknown when the row was written.
 */
export function listRepositoryKeys(reading: Reading, workspaceId: string, named: NamedRepository): readonly string[] {
  const found = findHosted(reading, workspaceId, named);
  const { host, repositoryId } = found ?? named;
  const number =
    host === undefined || repositoryId === undefined ? [] : [toRepositoryKey({ ...named, host, repositoryId })];
  return [...number, ...listNames(reading, workspaceId, named)];
}

/**
 * Returns the key of rows about a repository: `<number>@<host>`, or the name in lower case if the number is unknown.
 * Only names contain a slash.
 */
export function toRepositoryKey({ repository, host, repositoryId }: NamedRepository): string {
  return repositoryId === undefined ? repository.toLowerCase() : `${repositoryId}@${host}`;
}

/**
 * Returns the id of the actor that stores the repository's pull requests. For a known repository, this is the stored
 * id. For an unknown repository, the id is the given name. If that name belongs or belonged to another repository and
 * the number is known, the id is `<number>@<host>`.
 */
export function findLogId(reading: Reading, workspaceId: string, named: NamedRepository): string {
  const known = findHosted(reading, workspaceId, named);
  if (known !== undefined) return known.log;
  const { repository, repositoryId } = named;
  const taken = hostedNames.get(reading, workspaceId, repository.toLowerCase());
  // If the name belongs or belonged to another repository, the log of that repository may have the name as its id. Then
  // use the number of this repository.
  return taken === undefined || repositoryId === undefined ? repository.toLowerCase() : toRepositoryKey(named);
}
