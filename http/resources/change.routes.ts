import { z } from "zod";
import { permit } from "../../actors/access/visibility.js";
import { listChangeRecords } from "../../actors/resources/change-record.table.js";
import { findWorkspaceBySlug } from "../../actors/workspaces/slug-claims.machine.js";
import type { Runtime } from "../../runtime/runtime.js";
import { pageSize, wholeNumber } from "../paging.js";
import { type Route, route } from "../route.js";

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

/** The change log, for those who administer the workspace; for anyone else it is not there. */
export function changeRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/api/workspaces/{slug}/configuration-changes",
      summary: "Every change of the configuration, newest first",
      access: "any",
      query: z.strictObject({ before: wholeNumber.optional(), limit: pageSize() }),
      answers: { 200: z.strictObject({ items: z.array(changeSchema) }) },
      handle: ({ caller, params, query }) => {
        const workspaceId = findWorkspaceBySlug(runtime.reading, params.slug ?? "");
        const isAllowed =
          workspaceId !== undefined &&
          caller.kind === "person" &&
          permit(runtime.reading, caller, workspaceId, "administer", "workspace") === null;
        if (!isAllowed) return { refused: "not-found" };
        const { before, limit } = query;
        const items = listChangeRecords(
          runtime.reading,
          workspaceId,
          before === undefined ? { limit } : { before, limit },
        );
        return { status: 200, body: { items } };
      },
    }),
  ];
}
