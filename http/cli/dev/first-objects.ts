import type { Client } from "../../client/entry.js";
import { makeObjects } from "../setup/make-objects.js";

interface FirstObjects {
  /** The repository of the line: `<owner>/<name>`. */
  readonly repository: string;
  /** The token of the runner's pool. `isNew`: it was made for this start. */
  readonly pool: { readonly token: string; readonly isNew: boolean };
  /** The keys of the line's stations. */
  readonly stations: readonly string[];
}

/**
 * Creates what is missing: a workspace, a team, the runner's pool and, if there are no lines, the line `main` with
 * these stations. A new token replaces the pool's token. Returns the keys of the stations of the line `main`; null if
 * there are only other lines.
 */
export async function makeFirstObjects(
  client: Client,
  { repository, pool, stations }: FirstObjects,
): Promise<readonly string[] | null> {
  const { line } = await makeObjects(client, {
    workspace: { slug: "local", name: "Local" },
    team: { key: "core", name: "Core" },
    pool: { key: "main", ...pool },
    line: { key: "main", name: "Main", repositories: [repository], stations },
    takesOthers: true,
  });
  return line?.stations.map(({ key }) => key) ?? null;
}
