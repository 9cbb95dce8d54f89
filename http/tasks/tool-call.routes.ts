import { z } from "zod";
import type { PersonCaller } from "../../actors/caller.js";
import { approvalSchema } from "../../actors/runs/approval.js";
import { approvalView } from "../../actors/runs/approval.view.js";
import { UNASSIGNED } from "../../actors/runs/assignee.js";
import { findVisibleRun, type VisibleRun } from "../../actors/runs/run.queries.js";
import { byId, readListPage, readListPageInSlices } from "../../actors/tables/list-page.js";
import { toolCallSchema } from "../../actors/tool-calls/tool-call.js";
import {
  type ApprovalOfPerson,
  addOwnApprovals,
  addUnassignedApprovals,
  listApproversWorkspaces,
  listToolCalls,
} from "../../actors/tool-calls/tool-call.queries.js";
import { toolCallView } from "../../actors/tool-calls/tool-call.view.js";
import type { Runtime } from "../../runtime/runtime.js";
import { runInSteps } from "../wire/in-steps.js";
import { inPieces } from "../wire/page-reading.js";
import { idCursor, nextPage, pageSize } from "../wire/paging.js";
import { type Route, type RouteRequest, route } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";

/**
 * Maximum number of calls in a page. Each call can have 65,536 characters of inputs and 65,536 characters of output.
 */
const MAX_CALLS_SHOWN = 50;
/** Number of calls to read between pauses. */
const CALLS_AT_ONCE = 5;

const ownApprovalSchema = approvalSchema
  .extend({
    taskId: z.string().describe("The task whose run waits for the approval."),
    link: z.string().describe("The URL of the task."),
    hint: z.string().nullable().describe("What must happen before you may answer; null if you may answer now."),
  })
  .meta({ title: "approval of a person" });

const toolCallPage = z.strictObject({
  items: z.array(toolCallSchema).describe("The calls of this page, newest first."),
  next: nextPage("before"),
});

const ownApprovalPage = z.strictObject({
  items: z.array(ownApprovalSchema).describe("The open approvals of this page, newest first."),
  next: nextPage("before"),
});

interface ToolCallRoutesOptions {
  readonly runtime: Runtime;
  readonly baseUrl: () => string;
}

/** The routes for tool calls of runs, and for approvals that wait for a person. */
export function toolCallRoutes({ runtime, baseUrl }: ToolCallRoutesOptions): readonly Route[] {
  const { reading } = runtime;
  const visibleRun: Subject<VisibleRun> = {
    find: ({ caller, params }) => findVisibleRun(reading, caller, params.runId ?? ""),
  };
  return [
    subjectRoute(visibleRun, {
      method: "GET",
      path: "/api/runs/{runId}/tool-calls",
      summary: "List the integration tool calls of a run's agent, newest first",
      description:
        "Includes the result of each call. A failed call with the code `outcome-unknown` may or may not have " +
        "taken effect; the service does not repeat it.",
      access: "any",
      query: z.strictObject({
        before: idCursor("call"),
        limit: pageSize(MAX_CALLS_SHOWN, MAX_CALLS_SHOWN),
      }),
      answers: { 200: toolCallPage },
      handle: async (request, found) => {
        const { query } = request;
        const { rows, next } = readListPage(query, (page) => listToolCalls(reading, found, page), byId);
        const toItem = (call: (typeof rows)[number]) => toolCallView(reading, found.workspaceId, call);
        return { status: 200, body: { items: await inPieces(rows, request, toItem, CALLS_AT_ONCE), next } };
      },
    }),
    route({
      method: "GET",
      path: "/api/approvals",
      summary: "List the open approvals that you can answer, over all tasks, newest first",
      description:
        "Covers your tasks, and calls for which your own rule requires approval, in every workspace that you " +
        "are a member of. Approvals of tasks without an assignee are listed for everybody on their team, with " +
        "a `hint`: assign the task first.",
      access: "person",
      query: z.strictObject({
        state: z
          .enum(["open"], "must be open")
          .default("open")
          .describe("Only `open`, the default: the endpoint lists no answered approvals."),
        before: idCursor("apr"),
        limit: pageSize(),
      }),
      answers: { 200: ownApprovalPage },
      handle: async (request) => {
        const { query } = request;
        const { rows, next } = await readListPageInSlices(
          query,
          (page) => readOwnApprovals(runtime, request, page),
          ({ approval }) => approval.id,
        );
        const items = await inPieces(rows, request, ({ approval, run }) => {
          const taskId = run.taskId ?? "";
          const hint = approval.approver === null ? UNASSIGNED : null;
          return { ...approvalView(approval), taskId, link: `${baseUrl()}/api/tasks/${taskId}`, hint };
        });
        return { status: 200, body: { items, next } };
      },
    }),
  ];
}

/**
 * Reads a page of open approvals in all workspaces of a person: those that the person may answer now, or could answer
 * after being assigned the task. Reads all workspaces from one view of the store, one after the other, and lets other
 * work run in between.
 */
async function readOwnApprovals(
  runtime: Pick<Runtime, "view">,
  { caller, pause, signal }: Pick<RouteRequest, "pause" | "signal"> & { readonly caller: PersonCaller },
  page: { readonly before?: string | undefined; readonly limit: number },
): Promise<readonly ApprovalOfPerson[]> {
  const { userId } = caller;
  const view = runtime.view();
  try {
    let found: readonly ApprovalOfPerson[] = [];
    for (const [index, workspaceId] of listApproversWorkspaces(view, caller).entries()) {
      if (index > 0) await pause();
      signal.throwIfAborted();
      found = addOwnApprovals(view, { userId, workspaceId }, { ...page, found });
      const unassigned = addUnassignedApprovals(view, { userId, workspaceId }, { ...page, found });
      found = await runInSteps(unassigned, { pause, signal });
    }
    return found;
  } finally {
    view.close();
  }
}
