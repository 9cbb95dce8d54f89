import { z } from "zod";
import { changesPrunedBefore, listChangeRecords } from "../../actors/resources/change-record.queries.js";
import { readListPage } from "../../actors/tables/list-page.js";
import type { Runtime } from "../../runtime/runtime.js";
import { nextPage, pageSize, prunedBefore, wholeNumber } from "../wire/paging.js";
import type { Route } from "../wire/route.js";
import { workspaceRoute } from "../wire/workspace-route.js";

const nullableText = z.string().nullable();
const changeSchema = z
  .strictObject({
    seq: z.int(),
    resource: z.string(),
    resourceId: z.string(),
    key: z.string(),
    action: z.enum(["created", "updated", "deleted"]),
    by: z.strictObject({
      kind: z.enum(["person", "token", "service"]),
      userId: nullableText,
      tokenId: nullableText,
      trust: nullableText,
    }),
    client: nullableText,
    details: z.record(z.string(), z.unknown()),
    at: z.string(),
  })
  .meta({ title: "configuration-change" });

/** The route of the change log, for administrators of the workspace. Anyone else gets 404. */
export function changeRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [
    workspaceRoute(runtime, "administers", {
      method: "GET",
      path: "/api/workspaces/{slug}/configuration-changes",
      summary: "List every configuration change, newest first",
      access: "any",
      query: z.strictObject({ before: wholeNumber.optional(), limit: pageSize() }),
      answers: { 200: z.strictObject({ items: z.array(changeSchema), next: nextPage("before"), prunedBefore }) },
      handle: ({ query }, { workspaceId }) => {
        const { reading, clock } = runtime;
        const { rows, next } = readListPage(
          query,
          (page) => listChangeRecords(reading, workspaceId, page),
          ({ seq }) => String(seq),
        );
        const pruned = next === null ? changesPrunedBefore(reading, workspaceId, clock.now()) : null;
        return { status: 200, body: { items: rows, next, prunedBefore: pruned } };
      },
    }),
  ];
}
