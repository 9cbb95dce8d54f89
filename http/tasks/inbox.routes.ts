import { z } from "zod";
import { findVisibleWorkspace } from "../../actors/access/members/workspace.queries.js";
import type { Caller } from "../../actors/caller.js";
import type { WaitPosition } from "../../actors/runs/wait-index.js";
import { toListPage } from "../../actors/tables/list-page.js";
import { inboxItemDetailSchema, inboxItemSchema } from "../../actors/tasks/inbox.js";
import {
  countWaits,
  findInboxItem,
  getInboxItem,
  listInbox,
  listTeamWaits,
  MAX_COUNTED,
} from "../../actors/tasks/inbox.queries.js";
import { inboxItemDetailView, inboxItemView } from "../../actors/tasks/inbox.view.js";
import type { Runtime } from "../../runtime/runtime.js";
import { runInSteps } from "../wire/in-steps.js";
import { inPieces } from "../wire/page-reading.js";
import { inboxCursor, nextPage, pageSize } from "../wire/paging.js";
import { granted } from "../wire/refused.js";
import { type Route, route } from "../wire/route.js";

const listing = z.strictObject({
  workspace: z.string().optional().describe("The slug of a workspace; all of yours by default."),
  assignee: z
    .enum(["me", "none", "all"], "must be me, none or all")
    .default("me")
    .describe("`me`: items that only you can decide. `none`: items of tasks without an assignee."),
  after: inboxCursor,
  limit: pageSize(),
});

const count = (description: string) => z.int().max(MAX_COUNTED).describe(description);

const inboxPage = z.strictObject({
  items: z.array(inboxItemSchema).describe("The items of this page, the longest wait first."),
  counts: z
    .strictObject({
      me: count("Number of items that only you can decide."),
      none: count("Number of items whose tasks have no assignee."),
      all: count("Number of items in total, no matter who can decide them."),
    })
    .describe(
      `The number of items, on all pages. The service counts up to ${MAX_COUNTED}, which means that many or more.`,
    ),
  next: nextPage("after"),
});

/** Number of items to convert between pauses. Each may have 64 KiB of inputs. */
const ITEMS_AT_ONCE = 5;

/** The routes of the inbox: open approvals, questions and failures of all teams. */
export function inboxRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/inbox",
      operation: "listInbox",
      summary: "List what waits for a person, the longest wait first",
      description:
        "Lists open approvals, questions of agents, and tasks that cannot go on, of all teams whose results you may " +
        "read. Workspace tokens have no items of their own: use `assignee=none` or `all`.",
      access: "any",
      query: listing,
      answers: { 200: inboxPage },
      problems: ["not-found"],
      handle: async (request) => {
        const { caller, query } = request;
        const view = runtime.view();
        try {
          const workspaceId = findWorkspace(view, caller, query.workspace);
          const teams = await runInSteps(listTeamWaits(view, caller, workspaceId), request);
          const counts = await runInSteps(countWaits(view, caller, teams), request);
          await request.goOn();
          const { assignee: whose, after, limit } = query;
          const page = { whose, after: after === undefined ? null : toPosition(after), limit: limit + 1 };
          const found = await runInSteps(listInbox(view, caller, teams, page), request);
          const { rows, next } = toListPage(found, query, ({ sinceMs, id }) => `${sinceMs}-${id}`);
          const items = await inPieces(
            rows,
            request,
            (wait) => inboxItemView(getInboxItem(view, wait), view),
            ITEMS_AT_ONCE,
          );
          return { status: 200, body: { items, counts, next } };
        } finally {
          view.close();
        }
      },
    }),
    route({
      method: "GET",
      path: "/api/inbox/{id}",
      operation: "getInboxItem",
      summary: "Read an item of the inbox, and what became of it",
      description: "`id` is an approval's or a task's. `gone` says who ended the wait, and how.",
      access: "any",
      answers: { 200: inboxItemDetailSchema },
      problems: ["not-found"],
      handle: async (request) => {
        const view = runtime.view();
        try {
          const item = granted(await runInSteps(findInboxItem(view, request.caller, request.params.id ?? ""), request));
          return { status: 200, body: inboxItemDetailView(item, view) };
        } finally {
          view.close();
        }
      },
    }),
  ];
}

function findWorkspace(reading: Runtime["reading"], caller: Caller, slug: string | undefined): string | null {
  return slug === undefined ? null : granted(findVisibleWorkspace(reading, caller, slug)).workspaceId;
}

function toPosition(after: string): WaitPosition {
  const dash = after.indexOf("-");
  return { sinceMs: Number(after.slice(0, dash)), id: after.slice(dash + 1) };
}
