import { ApiError, type Client, type Schema } from "../../client/entry.js";
import type { Defaults } from "./defaults.js";
import { CommandError } from "./exit-codes.js";
import { findRunId, findTaskId, type WorkNames } from "./work-names.js";

/** A workspace that the caller is in. */
export interface NamedWorkspace {
  readonly id: string;
  readonly slug: string;
}

/** A team in its workspace. */
export interface NamedTeam {
  readonly id: string;
  readonly key: string;
  readonly workspace: NamedWorkspace;
}

/**
 * Resolves names that users type: ids, keys, and addresses such as `core/fix`. Without a name, uses the folder's
 * default, or the only object if there is just one. Throws a {@link CommandError} if no object matches, or if several
 * match and there is no default.
 */
export class Names {
  readonly #client: Client;
  readonly #readDefaults: () => Defaults;
  /** The value of `--team`. */
  readonly #wish: string | undefined;

  constructor(client: Client, readDefaults: () => Defaults, wish: string | undefined) {
    this.#client = client;
    this.#readDefaults = readDefaults;
    this.#wish = wish;
  }

  /** The folder's defaults, as they are now. */
  get #defaults(): Defaults {
    return this.#readDefaults();
  }

  /** Lists the workspaces that a person is in, or the workspace that a token belongs to. */
  async workspaces(): Promise<readonly NamedWorkspace[]> {
    const { items } = await this.#client.get("/api/resources/workspaces");
    return items.map(({ id, slug }) => ({ id, slug }));
  }

  /**
   * Finds a workspace by its slug or id. Default: the workspace of `--team`, the folder's default workspace, or the
   * caller's only workspace.
   */
  async workspace(name: string | undefined = this.#wishedWorkspace()): Promise<NamedWorkspace> {
    const all = await this.workspaces();
    const wanted = name ?? this.#defaults.workspace;
    const found = all.find(({ id, slug }) => id === wanted || slug === wanted);
    if (found !== undefined) return found;
    if (name !== undefined) {
      throw new CommandError(
        `there is no workspace ${name}, or you are not in it${listKeys(
          "you are in",
          all.map(({ slug }) => slug),
        )}`,
      );
    }
    const [only, ...others] = all;
    if (only !== undefined && others.length === 0) return only;
    const slugs = all.map(({ slug }) => slug).join(", ");
    throw new CommandError(
      only === undefined
        ? "you are in no workspace: run signalbox init, or ask for an invite"
        : `you are in several workspaces (${slugs}): run signalbox use <workspace>/<team>, or pass --team`,
    );
  }

  /**
   * Finds a team by `<workspace>/<team>`, its key or its id. Default: the team of `--team`, the folder's default team,
   * or the only team.
   */
  async team(name: string | undefined = this.#wish): Promise<NamedTeam> {
    const [first = "", second] = (name ?? "").split("/");
    const workspace = await this.workspace(second === undefined ? undefined : first);
    const key = second ?? first;
    const { items } = await this.#client.get("/api/resources/workspaces/{workspaceId}/teams", {
      path: { workspaceId: workspace.id },
    });
    const wanted = name === undefined ? this.#defaults.team : key;
    const found = items.find((team) => team.id === wanted || team.key === wanted);
    if (found !== undefined) return { id: found.id, key: found.key, workspace };
    const keys = items.map((team) => team.key);
    if (name !== undefined) {
      throw new CommandError(`there is no team ${key} in the workspace ${workspace.slug}${listKeys("it has", keys)}`);
    }
    const [only, ...others] = items;
    if (only !== undefined && others.length === 0) return { id: only.id, key: only.key, workspace };
    throw new CommandError(
      only === undefined
        ? `the workspace ${workspace.slug} has no team`
        : `the workspace ${workspace.slug} has several teams (${keys.join(", ")}): run signalbox use ${workspace.slug}/<team>, or pass --team`,
    );
  }

  /**
   * Finds a line by its id, `<team>/<line>` or its key in the team. Default: the folder's default line, or the team's
   * only line.
   */
  async line(name?: string): Promise<{ readonly team: NamedTeam; readonly line: Schema<"Line"> }> {
    const [first = "", second] = (name ?? "").split("/");
    const team = await this.team(second === undefined ? undefined : first);
    const path = { workspaceId: team.workspace.id };
    const { items: all } = await this.#client.get("/api/resources/workspaces/{workspaceId}/lines", { path });
    const items = all.filter(({ address = "" }) => address.startsWith(`${team.key}/`));
    const key = second ?? first;
    const wanted = name === undefined ? this.#defaults.line : key;
    const found = items.find((line) => line.id === wanted || line.key === wanted);
    if (found !== undefined) return { team, line: found };
    const keys = items.map((line) => line.key);
    if (name !== undefined) {
      throw new CommandError(`there is no line ${key} in the team ${team.key}${listKeys("it has", keys)}`);
    }
    const [only, ...others] = items;
    if (only !== undefined && others.length === 0) return { team, line: only };
    throw new CommandError(
      only === undefined
        ? `the team ${team.key} has no line`
        : `the team ${team.key} has several lines (${keys.join(", ")}): pass --line`,
    );
  }

  /** Finds the id of a task; see {@link findTaskId}. */
  task(name?: string): Promise<string> {
    return findTaskId(this.#work(), name);
  }

  /** Finds the id of a run; see {@link findRunId}. */
  run(name?: string): Promise<string> {
    return findRunId(this.#work(), name);
  }

  #work(): WorkNames {
    return { client: this.#client, defaults: this.#defaults, team: () => this.team() };
  }

  /** Returns the workspace in `--team <workspace>/<team>`; undefined if the option names none. */
  #wishedWorkspace(): string | undefined {
    const [slug, team] = (this.#wish ?? "").split("/");
    return team === undefined ? undefined : slug;
  }
}

/** Awaits the read of an object. Returns null if the object does not exist, or if the caller cannot see it. */
export async function orNull<Found>(found: Promise<Found>): Promise<Found | null> {
  try {
    return await found;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** Whether the service says that the object does not exist, or that the caller cannot see it. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** Returns the end of an error for an unknown name, such as `; it has: core, docs`. */
function listKeys(intro: string, keys: readonly string[]): string {
  return keys.length === 0 ? "" : `; ${intro}: ${keys.join(", ")}`;
}
