import { type Answer, type Client, listAll, type Schema } from "../../client/entry.js";
import type { CommonOptions, Context } from "../command/context.js";
import { type Limited, type LimitOption, showList, takeItems, toPageSize } from "../command/list-limit.js";
import { toTable } from "../command/table.js";
import { toTimeText } from "../command/time-text.js";
import { describeCall } from "./approvals.js";
import type { ASSIGNEES } from "./filters.js";

/** Which items of the inbox to list. */
export interface InboxFilter {
  readonly assignee?: (typeof ASSIGNEES)[number];
  readonly workspace?: string;
}

type Item = Schema<"InboxItem">;
type Counts = Answer<"get", "/api/inbox">["counts"];

/** Lists the items of all teams that wait for a person. */
export async function showInbox(context: Context, options: InboxFilter & LimitOption & CommonOptions): Promise<void> {
  const { client, login, terminal } = context;
  const { limit, workspace } = options;
  const assignee = options.assignee ?? (login.token === undefined ? "me" : "all");
  const query = { assignee, limit: toPageSize(limit), ...(workspace === undefined ? {} : { workspace }) };
  const list = await takeItems(listAll(client, "/api/inbox", "after", { query }), limit);
  const { counts } = await client.get("/api/inbox", { query: { ...query, limit: 1 } });
  const teams = list.items.length === 0 ? new Map<string, string>() : await readTeams(context);
  const shown: Limited<Item> & { readonly counts: Counts } = { ...list, counts };
  showList(context, shown, {
    none: `nothing is waiting${assignee === "me" ? " for you" : ""}`,
    toLines: () =>
      toTable(
        terminal,
        [
          { title: "since", of: ({ since }) => toTimeText(terminal, since) },
          { title: "team", of: ({ task }) => teams.get(task.teamId), isMinor: true },
          { title: "kind", of: ({ kind }) => kind, isMinor: true },
          { title: "id", of: ({ id }) => id },
          { title: "task", of: ({ task }) => task.title, isFlexible: true },
          {
            title: "what",
            of: ({ asks, approval }) => (approval === null ? asks : describeCall(approval)),
            isFlexible: true,
          },
        ],
        list.items,
      ),
  });
  if (assignee === "me" && counts.none > 0) {
    terminal.note(`${counts.none} unassigned ${counts.none === 1 ? "item" : "items"}: signalbox inbox --assignee none`);
  }
}

/** Reads the addresses of the caller's teams, such as `acme/core`, by id. */
async function readTeams({ client, names }: { readonly client: Client; readonly names: Context["names"] }) {
  const teams = new Map<string, string>();
  for (const { id, slug } of await names.workspaces()) {
    const path = { workspaceId: id };
    const { items } = await client.get("/api/resources/workspaces/{workspaceId}/teams", { path });
    for (const team of items) teams.set(team.id, `${slug}/${team.key}`);
  }
  return teams;
}
