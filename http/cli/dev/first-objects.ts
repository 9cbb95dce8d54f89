import type { Client } from "../../client/entry.js";
import { DEV_POOL, makeObjects } from "../setup/make-objects.js";

interface FirstObjects {
  /** The repository of the line: `<owner>/<name>`. */
  readonly repository: string;
  /** The token with which the runner joins its pool. */
  readonly poolToken: string;
  /** The keys of the line's stations. */
  readonly stations: readonly string[];
}

/**
 * Creates the objects that are missing: a workspace, a team, the runner's pool and, if there are no lines, the line
 * `main` with these stations. Sets the token of an existing pool again, because somebody may have replaced the token
 * since the last start. Returns the station keys of the line `main`; null if the team has only other lines.
 */
export async function makeFirstObjects(
  client: Client,
  { repository, poolToken, stations }: FirstObjects,
): Promise<readonly string[] | null> {
  const { line } = await makeObjects(client, {
    workspace: { slug: "local", name: "Local" },
    team: { key: "core", name: "Core" },
    pool: { key: DEV_POOL, token: poolToken },
    line: { key: "main", name: "Main", repositories: [repository], stations },
    takesOthers: true,
  });
  return line?.stations.map(({ key }) => key) ?? null;
}
