import { readFileSync } from "node:fs";
import { z } from "zod";

/** What a CI job says of itself. */
export interface CiJob {
  readonly commit: string | null;
  readonly pullRequest: number | null;
  /** The run of the workflow and its attempt: another one asks anew. Null outside of CI. */
  readonly attempt: string | null;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const pullRequestEvent = z.looseObject({
  pull_request: z.looseObject({ number: z.int(), head: z.looseObject({ sha: z.string() }) }),
});

/**
 * What GitHub Actions says of the job, from its environment and the file of its event. The commit of a pull request is
 * its newest one: `GITHUB_SHA` is that of a merge with its base, which nobody else sees.
 */
export function readCiJob(environment: Environment): CiJob {
  const { GITHUB_EVENT_PATH: path, GITHUB_SHA: sha, GITHUB_RUN_ID: run, GITHUB_RUN_ATTEMPT: attempt } = environment;
  const event = path === undefined || path === "" ? undefined : readEvent(path);
  return {
    commit: event?.head.sha ?? (sha === undefined || sha === "" ? null : sha),
    pullRequest: event?.number ?? null,
    attempt: attempt === undefined || attempt === "" ? null : `${run ?? ""}/${attempt}`,
  };
}

/** The pull request of the event; undefined for other events, and for a file that cannot be read. */
function readEvent(path: string) {
  try {
    return pullRequestEvent.safeParse(JSON.parse(readFileSync(path, "utf8"))).data?.pull_request;
  } catch {
    return undefined;
  }
}
