import type { Client, Schema } from "../../client/entry.js";

export interface WantedObjects {
  /** The repository of the line: `<owner>/<name>`. */
  readonly repository: string;
  /** The token of the runner's pool. `isNew`: it was made for this start. */
  readonly pool: { readonly token: string; readonly isNew: boolean };
  /** The keys of the line's stations. */
  readonly stations: readonly string[];
}

const WORKSPACE = { slug: "local", name: "Local" };
const TEAM = { key: "core", name: "Core" };
const POOL = "main";
const LINE = { key: "main", name: "Main" };

const PROMPTS = {
  work: "Do the task in this repository. Change what the task needs, and nothing else. Ask if something is unclear.",
  review: "Review the changes of the task. Hand the task back and say why, if they do not do what the task asks for.",
} as const;

/**
 * Creates what is missing: a workspace, a team, the runner's pool and, if there are no lines, a line with these
 * stations. Existing objects stay as they are, except that a new token replaces the pool's, so an interrupted start can
 * be repeated. Returns the keys of the stations of the line `main`; null if there are only other lines.
 */
export async function makeFirstObjects(
  client: Client,
  { repository, pool, stations }: WantedObjects,
): Promise<readonly string[] | null> {
  const { items: workspaces } = await client.get("/api/resources/workspaces");
  const workspace =
    workspaces.find(({ slug }) => slug === WORKSPACE.slug) ??
    workspaces[0] ??
    (await client.post("/api/resources/workspaces", { body: WORKSPACE }));
  const path = { workspaceId: workspace.id };
  const { items: teams } = await client.get("/api/resources/workspaces/{workspaceId}/teams", { path });
  const team =
    teams.find(({ key }) => key === TEAM.key) ??
    teams[0] ??
    (await client.post("/api/resources/workspaces/{workspaceId}/teams", { path, body: TEAM }));
  await openPool(client, workspace.id, pool);
  const { items: lines } = await client.get("/api/resources/workspaces/{workspaceId}/lines", { path });
  if (lines.length > 0) return lines.find(({ key }) => key === LINE.key)?.stations.map(({ key }) => key) ?? null;
  await client.post("/api/resources/teams/{teamId}/lines", {
    path: { teamId: team.id },
    body: { ...LINE, repositories: [{ name: repository }], stations: toStations(stations) },
  });
  return stations;
}

/** Creates the pool if it is missing. Gives an existing pool the token if the token is new. */
async function openPool(client: Client, workspaceId: string, { token, isNew }: WantedObjects["pool"]): Promise<void> {
  const path = { workspaceId };
  const { items } = await client.get("/api/resources/workspaces/{workspaceId}/runner-pools", { path });
  const pool = items.find(({ key }) => key === POOL);
  if (pool === undefined) {
    await client.post("/api/resources/workspaces/{workspaceId}/runner-pools", { path, body: { key: POOL, token } });
  } else if (isNew) {
    const { key, kind, labels, concurrency, push, id, version } = pool;
    const body = { key, kind, labels, concurrency, push, token };
    await client.put("/api/resources/runner-pools/{id}", { path: { id }, version, body });
  }
}

/** Each station passes to the next one. A review may also send a task back to the station before it. */
function toStations(keys: readonly string[]): Schema<"LineInput">["stations"] {
  return keys.map((key, index) => {
    const before = keys[index - 1];
    const next = keys[index + 1];
    const kind = key === "review" && before !== undefined ? "review" : "work";
    return {
      key,
      name: key.charAt(0).toUpperCase() + key.slice(1).replaceAll("-", " "),
      kind,
      prompt: PROMPTS[kind],
      passesTo: [next, kind === "review" ? before : undefined].filter((each) => each !== undefined),
      runners: { pool: POOL, labels: [] },
    };
  });
}
