import type { Client, Schema } from "../../client/entry.js";

/** The objects that agents need to work on tasks. */
export interface WantedObjects {
  readonly workspace: { readonly slug: string; readonly name: string };
  readonly team: { readonly key: string; readonly name: string };
  /**
   * The runner pool. `token` is the token for the pool, instead of a random one. It also replaces the token of an
   * existing pool.
   */
  readonly pool: { readonly key: string; readonly token?: string };
  readonly line: {
    readonly key: string;
    readonly name: string;
    /** Repositories as `<owner>/<name>`. */
    readonly repositories: readonly string[];
    /** The keys of the line's stations. Each station passes its tasks to the next station. */
    readonly stations: readonly string[];
  };
  /** Whether to use an existing workspace, team or line with another name if no object has the wanted name. */
  readonly takesOthers: boolean;
}

/** An object, and whether it was created now. */
type Made<Value> = Value & { readonly isNew: boolean };

/** The objects that were found or created. */
export interface MadeObjects {
  readonly workspace: Made<Schema<"Workspace">>;
  readonly team: Made<Schema<"Team">>;
  readonly pool: Made<MadePool>;
  /** Null if there are only other lines and `takesOthers` is true. */
  readonly line: Made<Schema<"Line">> | null;
}

/** A runner pool. */
interface MadePool {
  readonly id: string;
  readonly key: string;
  /**
   * The token with which runners join a new pool; null for an existing pool. The service does not show this token
   * again.
   */
  readonly token: string | null;
}

/** The key of the pool that the runner of `signalbox dev` joins. */
export const DEV_POOL = "main";

const PROMPTS = {
  work: "Do the task in this repository. Change what the task needs, and nothing else. Ask if something is unclear.",
  review: "Review the changes of the task. Hand the task back and say why, if they do not do what the task asks for.",
} as const;

/**
 * Creates the objects that are missing: the workspace, the team, the runner pool and the line. Existing objects stay as
 * they are, so an interrupted call can be repeated. Exception: a given pool token replaces the token of an existing
 * pool.
 *
 * Calls `onPool` with the pool before it creates the line, because the token of a new pool is shown only once.
 */
export async function makeObjects(
  client: Client,
  wanted: WantedObjects,
  onPool: (pool: Made<MadePool>) => void = () => undefined,
): Promise<MadeObjects> {
  const workspace = await makeWorkspace(client, wanted);
  const team = await makeTeam(client, workspace.id, wanted);
  const pool = await makePool(client, workspace.id, wanted.pool);
  onPool(pool);
  return { workspace, team, pool, line: await makeLine(client, team, wanted) };
}

async function makeWorkspace(
  client: Client,
  { workspace, takesOthers }: WantedObjects,
): Promise<MadeObjects["workspace"]> {
  const { items } = await client.get("/api/resources/workspaces");
  const found = items.find(({ slug }) => slug === workspace.slug) ?? (takesOthers ? items[0] : undefined);
  if (found !== undefined) return { ...found, isNew: false };
  return { ...(await client.post("/api/resources/workspaces", { body: workspace })), isNew: true };
}

async function makeTeam(
  client: Client,
  workspaceId: string,
  { team, takesOthers }: WantedObjects,
): Promise<MadeObjects["team"]> {
  const path = { workspaceId };
  const { items } = await client.get("/api/resources/workspaces/{workspaceId}/teams", { path });
  const found = items.find(({ key }) => key === team.key) ?? (takesOthers ? items[0] : undefined);
  if (found !== undefined) return { ...found, isNew: false };
  return { ...(await client.post("/api/resources/workspaces/{workspaceId}/teams", { path, body: team })), isNew: true };
}

async function makePool(
  client: Client,
  workspaceId: string,
  { key, token }: WantedObjects["pool"],
): Promise<Made<MadePool>> {
  const path = { workspaceId };
  const { items } = await client.get("/api/resources/workspaces/{workspaceId}/runner-pools", { path });
  const found = items.find((pool) => pool.key === key);
  if (found === undefined) {
    const body = { key, ...(token === undefined ? {} : { token }) };
    const made = await client.send("post", "/api/resources/workspaces/{workspaceId}/runner-pools", { path, body });
    const { id }: Schema<"RunnerPool"> = JSON.parse(made.text);
    return { id, key, token: token ?? made.headers.get("service-pool-token"), isNew: true };
  }
  const { id, version, kind, labels, concurrency, push } = found;
  // A push pool has no token. If the pool already has this token, the write changes nothing, not even the version.
  if (token !== undefined && kind === "pull") {
    const body = { key, kind, labels, concurrency, push, token };
    await client.put("/api/resources/runner-pools/{id}", { path: { id }, version, body });
  }
  return { id, key, token: null, isNew: false };
}

async function makeLine(
  client: Client,
  team: Schema<"Team">,
  { line, pool, takesOthers }: WantedObjects,
): Promise<MadeObjects["line"]> {
  const path = { workspaceId: team.workspaceId };
  const { items } = await client.get("/api/resources/workspaces/{workspaceId}/lines", { path });
  const found = items.find(({ key, teamId }) => key === line.key && (takesOthers || teamId === team.id));
  if (found !== undefined) return { ...found, isNew: false };
  if (takesOthers && items.length > 0) return null;
  const { key, name } = line;
  const repositories = line.repositories.map((each) => ({ name: each }));
  const stations = toStations(line.stations, pool.key);
  const body = { key, name, repositories, stations };
  return {
    ...(await client.post("/api/resources/teams/{teamId}/lines", { path: { teamId: team.id }, body })),
    isNew: true,
  };
}

/** Each station passes its tasks to the next station. A review may also send a task back to the station before it. */
function toStations(keys: readonly string[], pool: string): Schema<"LineInput">["stations"] {
  return keys.map((key, index) => {
    const before = keys[index - 1];
    const next = keys[index + 1];
    const kind = key === "review" && before !== undefined ? "review" : "work";
    return {
      key,
      name: toName(key),
      kind,
      prompt: PROMPTS[kind],
      passesTo: [next, kind === "review" ? before : undefined].filter((each) => each !== undefined),
      runners: { pool, labels: [] },
    };
  });
}

/** Converts a key to a name: `fix-tests` to `Fix tests`. */
export function toName(key: string): string {
  return key.charAt(0).toUpperCase() + key.slice(1).replaceAll("-", " ");
}
