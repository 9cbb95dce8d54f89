import { z } from "zod";
import { createSearch } from "../../actors/navigation/search.queries.js";
import type { Kind } from "../../actors/resources/kind.js";
import type { Runtime } from "../../runtime/runtime.js";
import { runInSteps } from "../wire/in-steps.js";
import { pageSize } from "../wire/paging.js";
import { EXAMPLE_ULID, type Route } from "../wire/route.js";
import { workspaceRoute } from "../wire/workspace-route.js";
import { toPagePath } from "./page-path.js";

const searching = z.strictObject({
  q: z
    .string()
    .max(200, "must be at most 200 characters")
    .default("")
    .describe("Words, a key, `#number` or an id. Without a word it finds nothing."),
  limit: pageSize(20, 50),
});

const resultSchema = z
  .strictObject({
    kind: z.string().describe("As in `GET /api/find/{id}`."),
    id: z.string().describe("The id of the object, such as `task_…`."),
    title: z.string().describe("The title or name of the object, as people see it."),
    teamId: z.string().nullable().describe("The team of the object; null if it belongs to no team."),
    path: z.string().describe("The path of the page that shows it, on this service."),
  })
  .meta({ title: "search-result" });

interface SearchRoutesOptions {
  readonly runtime: Runtime;
  readonly kinds: readonly Kind[];
}

/** The route that searches a workspace. */
export function workspaceSearchRoutes({ runtime, kinds }: SearchRoutesOptions): readonly Route[] {
  const search = createSearch(kinds);
  return [
    workspaceRoute(runtime, "sees", {
      method: "GET",
      path: "/api/workspaces/{slug}/search",
      operation: "search",
      summary: "Search a workspace by words, keys, numbers and ids",
      description:
        "Finds tasks, lines, stations, teams, hooks, integrations, skills, harness profiles, pull requests and people. " +
        "Each word of `q` (letters and digits, in any case) begins a word of the title or of the key; a person also " +
        "has the mail address. `#12` finds pull requests with this number, and titles that name it. Returns only what " +
        "you may see; workspace tokens see no people.",
      access: "any",
      query: searching,
      answers: {
        200: {
          body: z.strictObject({
            items: z.array(resultSchema).describe("Exact matches first, then the newest of each kind in turn."),
            truncated: z
              .boolean()
              .describe("Whether there may be more. A word that very many titles have is only searched in the newest."),
          }),
          example: {
            items: [
              {
                kind: "task",
                id: `task_${EXAMPLE_ULID}`,
                title: "The tests fail",
                teamId: `team_${EXAMPLE_ULID}`,
                path: `/tasks/task_${EXAMPLE_ULID}`,
              },
            ],
            truncated: false,
          },
        },
      },
      handle: async (request, { workspaceId }) => {
        const { caller, query, params } = request;
        const view = runtime.view();
        try {
          const found = await runInSteps(search(view, caller, { workspaceId, ...query }), request);
          const items = found.places.map(({ kind, id, title, teamId, ...page }) => {
            const path = toPagePath(page.shownOn ?? { kind, id, ...page }, params.slug ?? "");
            return { kind, id, title, teamId, path };
          });
          return { status: 200, body: { items, truncated: found.isCut } };
        } finally {
          view.close();
        }
      },
    }),
  ];
}
