import { readFileSync } from "node:fs";
import { z } from "zod";

/** Data about the current CI job. */
export interface CiJob {
  readonly commit: string | null;
  readonly pullRequest: number | null;
  /** The workflow run and its attempt. Another attempt starts a new check. Null outside of CI. */
  readonly attempt: string | null;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const pullRequestEvent = z.looseObject({
  pull_request: z.looseObject({ number: z.int(), head: z.looseObject({ sha: z.string() }) }),
});

/**
 * Reads the job's data from the environment of GitHub Actions and the event file. For a pull request, the commit is its
 * newest one: `GITHUB_SHA` would be a merge with the base, which exists nowhere else.
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

/** Returns the event's pull request; undefined for another event or an unreadable file. */
function readEvent(path: string) {
  try {
    return pullRequestEvent.safeParse(JSON.parse(readFileSync(path, "utf8"))).data?.pull_request;
  } catch {
    return undefined;
  }
}
