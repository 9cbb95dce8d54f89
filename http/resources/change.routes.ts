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
    seq: z.int().describe("Number of the change in its workspace; rises with every change."),
    resource: z.string().describe("Kind of what changed, such as `line`, `secret` or `replay`."),
    resourceId: z.string().describe("Id of the resource that changed."),
    key: z.string().describe("Key or name that the resource had in its team or workspace."),
    action: z.enum(["created", "updated", "deleted"]).describe("What happened to the resource."),
    by: z
      .strictObject({
        kind: z
          .enum(["person", "token", "service"])
          .describe("`service`: the service made the change because of another one."),
        userId: nullableText.describe(
          "The person, or who issued the token or defined its trust; null for the service.",
        ),
        tokenId: nullableText.describe("Id of the workspace token; null without a token."),
        trust: nullableText.describe("Id of the trust that minted the token; null for other callers."),
      })
      .describe("Who made the change, and with which credential."),
    client: nullableText.describe("Program that made the change, from `Service-Client`; null if the service did."),
    details: z
      .record(z.string(), z.unknown())
      .describe("What the kind records besides the action, such as a secret's version; never a secret value."),
    at: z.string().describe("ISO 8601 time of the change."),
  })
  .meta({ title: "configuration-change" });

/** The route of the change log, for administrators of the workspace. Anyone else gets 404. */
export function changeRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [
    workspaceRoute(runtime, "administers", {
      method: "GET",
      path: "/api/workspaces/{slug}/configuration-changes",
      summary: "List every configuration change, newest first",
      description:
        "Requires the permission `administer`; any other caller gets 404. Includes replays, searches and checks that " +
        "people and tokens start.",
      access: "any",
      query: z.strictObject({
        before: wholeNumber.optional().describe("Returns changes with a smaller `seq`: `next` of the previous page."),
        limit: pageSize(),
      }),
      answers: {
        200: z.strictObject({
          items: z.array(changeSchema).describe("Changes of the page, newest first."),
          next: nextPage("before"),
          prunedBefore,
        }),
      },
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
