import { table } from "../../storage/table.js";

/** A repository that a line names, as the code host last told of it. It is found by its number, whatever it is called. */
export interface HostedRepository {
  /** `owner/name`, as the code host calls it now. */
  readonly name: string;
  /** What it was called before, newest first; {@link MAX_FORMER_NAMES} at most. */
  readonly formerNames: readonly string[];
  /** The id of the actor that keeps its pull requests. It stays when the repository is renamed. */
  readonly log: string;
  /** The installation that told of it last. */
  readonly installationId: number;
  /** The code host's time of the name, in milliseconds since 1970. */
  readonly asOfMs: number;
}

/** A repository by its number at a code host. */
export interface HostedKey {
  readonly host: string;
  readonly repositoryId: number;
}

/** Most former names of a repository that are remembered. */
export const MAX_FORMER_NAMES = 20;

/** `[host, number of the repository]`; the repository's log alone writes it. */
export const hostedRepositories = table<HostedRepository>("hosted-repository");

/** `[name in lower case]`: the repository that has the name, or was the last to have it. */
export const hostedNames = table<HostedKey>("hosted-repository-name");
