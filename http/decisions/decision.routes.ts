import { z } from "zod";
import { decisionSchema, MAX_PATH } from "../../actors/decisions/decision.js";
import { visibleDecisions } from "../../actors/decisions/decision.queries.js";
import { type DecisionPlace, decisionView } from "../../actors/decisions/decision.view.js";
import { repositoryName } from "../../actors/resources/fields.js";
import { readListPageInSlices } from "../../actors/tables/list-page.js";
import type { Runtime } from "../../runtime/runtime.js";
import { readPage } from "../wire/page-reading.js";
import { nextPage, pageSize } from "../wire/paging.js";
import type { Route } from "../wire/route.js";
import { workspaceRoute } from "../wire/workspace-route.js";

const PLACE = /^(\d{1,15})-(dec_[0-9A-Z]{26})$/;

const written = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);
const time = z
  .string()
  .refine((text) => written.safeParse(text).success, "must be an RFC 3339 time, or a day as YYYY-MM-DD")
  // Replace a time before 1970 by the first millisecond of 1970. The result is the same, because no pull request was
  // merged before 1970.
  .transform((text) => Math.max(Date.parse(text), 1));

const listQuery = z
  .strictObject({
    repository: repositoryName.optional().describe("Returns only decisions in this repository (`owner/name`)."),
    path: z
      .string()
      .min(1, "must not be empty")
      .max(MAX_PATH, `must be at most ${MAX_PATH} characters`)
      .refine((path) => !path.startsWith("/"), "must be a path within the repository, without a leading /")
      .optional()
      .describe("A file, or a folder with a trailing `/`, which includes everything in it."),
    since: time.optional().describe("Merged at or after this time; a day means its midnight in UTC."),
    until: time.optional().describe("Merged before this time; a day means its midnight in UTC."),
    before: z
      .string()
      .transform((text) => PLACE.exec(text))
      .refine((found) => found !== null, "must be the next of an earlier page")
      .transform((found): DecisionPlace => ({ mergedAtMs: Number(found?.[1]), id: found?.[2] ?? "" }))
      .optional()
      .describe("The `next` of an earlier page."),
    limit: pageSize(),
  })
  .refine(({ since, until }) => since === undefined || until === undefined || since < until, {
    path: ["until"],
    message: "must be later than since",
  });

/** The routes for the decisions made in a workspace's tasks. */
export function decisionRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  const { reading } = runtime;
  return [
    workspaceRoute(runtime, "sees", {
      method: "GET",
      path: "/api/workspaces/{slug}/decisions",
      summary: "List standing decisions, latest merge first",
      description:
        "Covers the teams whose outcomes the caller may read. Proposed decisions, and decisions discarded with " +
        "their pull request, have no merge time and are not listed.",
      access: "any",
      query: listQuery,
      answers: {
        200: z.strictObject({
          items: z.array(decisionSchema).describe("The decisions of this page, latest merge first."),
          next: nextPage("before"),
        }),
      },
      handle: async (request, { workspaceId }) => {
        const { caller, query } = request;
        const { repository, path, since: sinceMs, until: untilMs, before, limit } = query;
        const filter = { repository, path, sinceMs, untilMs };
        const { rows, next } = await readListPageInSlices(
          { after: before ?? null, limit },
          (page) => readPage(runtime, request, visibleDecisions(reading, { caller, workspaceId }, filter, page)),
          ({ mergedAtMs, id }) => `${mergedAtMs}-${id}`,
        );
        const items = rows.flatMap((standing) => decisionView(reading, workspaceId, standing));
        return { status: 200, body: { items, next } };
      },
    }),
  ];
}
