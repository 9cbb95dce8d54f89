import { table } from "../../storage/table.js";

/** A repository that a line names, as the code host last reported it. Its number identifies it, even after a rename. */
export interface HostedRepository {
  /** The current `owner/name` at the code host. */
  readonly name: string;
  /** The previous names, newest first, at most {@link MAX_FORMER_NAMES}. */
  readonly formerNames: readonly string[];
  /** The id of the actor that stores the repository's pull requests. A rename does not change the id. */
  readonly log: string;
  /** The installation that last reported the repository. */
  readonly installationId: number;
  /** The latest time of a stored report, by the code host's clock, in milliseconds since 1970; 0 if none had a time. */
  readonly asOfMs: number;
}

/** The key of a repository: its number at a code host. */
export interface HostedKey {
  readonly host: string;
  readonly repositoryId: number;
}

/** Maximum number of stored former names per repository. */
export const MAX_FORMER_NAMES = 20;

/** Key: `[host, number of the repository]`. Only the repository's pull request log writes these rows. */
export const hostedRepositories = table<HostedRepository>("hosted-repository");

/** Key: `[name in lower case]`. Value: the repository that has this name now, or had it last. */
export const hostedNames = table<HostedKey>("hosted-repository-name");
