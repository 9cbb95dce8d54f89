import { z } from "zod";
import { permit, seesOutcomes } from "../../actors/access/visibility.js";
import type { Caller } from "../../actors/caller.js";
import type { Refusal } from "../../actors/refusal.js";
import { runners } from "../../actors/runners/runner.table.js";
import { runnerSchema, runnerView } from "../../actors/runners/runner.view.js";
import { runs } from "../../actors/runs/run.table.js";
import { findWorkspaceBySlug } from "../../actors/workspaces/slug-claims.machine.js";
import type { Runtime } from "../../runtime/runtime.js";
import { cursor, pageSize } from "../paging.js";
import { type Answer, type Route, route } from "../route.js";

const listing = z.strictObject({
  after: cursor.optional(),
  limit: pageSize(200),
});

/** Who runs the workspace's work just now. */
export function runnerRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/workspaces/{slug}/runners",
      summary: "The runners that are connected, or away for less than a lease",
      access: "any",
      query: listing,
      answers: { 200: z.strictObject({ items: z.array(runnerSchema) }) },
      handle: ({ caller, params, query }) => listRunners(runtime, caller, params.slug ?? "", query),
    }),
  ];
}

/** In the order of their ids, which is that of their first connections. */
function listRunners(
  { reading }: Runtime,
  caller: Caller,
  slug: string,
  query: z.output<typeof listing>,
): Answer | Refusal {
  const workspaceId = findWorkspaceBySlug(reading, slug);
  if (workspaceId === undefined) return { refused: "not-found" };
  const refused = permit(reading, caller, workspaceId, "read", "workspace");
  if (refused !== null) return refused;
  const sees = (runId: string): boolean => {
    const run = runs.get(reading, workspaceId, runId);
    return run !== undefined && seesOutcomes(reading, caller, workspaceId, run.teamId);
  };
  const after = query.after === undefined ? {} : { after: [query.after] };
  const items = runners.list(reading, workspaceId, [], { limit: query.limit, ...after });
  return { status: 200, body: { items: items.map((runner) => runnerView(reading, workspaceId, runner, sees)) } };
}
