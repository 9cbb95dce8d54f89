import { ApiError, listAll, type Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import { toLine } from "../command/printable.js";

type Member = Schema<"Member">;

/** The people of a workspace. Tasks and runs refer to them by id. */
export class People {
  readonly #members: readonly Member[];

  private constructor(members: readonly Member[]) {
    this.#members = members;
  }

  /** Reads the members of a workspace. A caller who may not list them sees ids instead of names. */
  static async read({ client }: Context, slug: string): Promise<People> {
    const listed: Member[] = [];
    try {
      const members = listAll(client, "/api/workspaces/{slug}/members", "after", {
        path: { slug },
        query: { limit: 200 },
      });
      for await (const member of members) listed.push(member);
    } catch (error) {
      if (!(error instanceof ApiError && [401, 403, 404].includes(error.status))) throw error;
    }
    return new People(listed);
  }

  /**
   * Reads the people of the workspace that has the team. If the caller is in only one workspace, uses that workspace.
   * Empty if no workspace has the team.
   */
  static async ofTeam(context: Context, teamId: string): Promise<People> {
    const workspaces = await context.names.workspaces();
    const [only, ...others] = workspaces;
    if (only !== undefined && others.length === 0) return await People.read(context, only.slug);
    for (const { id, slug } of workspaces) {
      const { items } = await context.client.get("/api/resources/workspaces/{workspaceId}/teams", {
        path: { workspaceId: id },
      });
      if (items.some((team) => team.id === teamId)) return await People.read(context, slug);
    }
    return new People([]);
  }

  /**
   * Returns the name of a person. Returns the id if the person is not among the members that were read, and null for
   * null.
   */
  name(userId: string | null): string | null {
    if (userId === null) return null;
    return this.#members.find((member) => member.userId === userId)?.name ?? userId;
  }

  /** Returns the name of a note's or message's author. `from` is `person <id>`, or a text that is returned as it is. */
  author(from: string): string {
    const [, userId] = /^person (\S+)$/.exec(from) ?? [];
    return toLine(userId === undefined ? from : (this.name(userId) ?? from));
  }

  /** Finds the id of a person by mail address, name or id; null for `none`. `me` is the caller. */
  async find(context: Context, wanted: string): Promise<string | null> {
    if (wanted === "none") return null;
    if (wanted === "me") return (await context.client.get("/api/sessions/me")).userId;
    const found = this.#members.filter(({ userId, email, name }) =>
      [userId, email.toLowerCase(), name.toLowerCase()].includes(/^usr_/.test(wanted) ? wanted : wanted.toLowerCase()),
    );
    const [only, second] = found;
    if (only !== undefined && second === undefined) return only.userId;
    const which = found.map(({ email }) => email).join(", ");
    throw new CommandError(
      only === undefined
        ? `there is no person ${wanted} in the workspace: give a mail address, a name, an id, me or none`
        : `several people are called ${wanted}: give the mail address (${which})`,
    );
  }
}
