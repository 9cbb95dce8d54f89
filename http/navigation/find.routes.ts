import { z } from "zod";
import { getSlug } from "../../actors/access/members/workspace.queries.js";
import { createFindPlace } from "../../actors/navigation/find-place.js";
import type { Kind } from "../../actors/resources/kind.js";
import type { Runtime } from "../../runtime/runtime.js";
import { runInSteps } from "../wire/in-steps.js";
import { EXAMPLE_ULID, type Route, route } from "../wire/route.js";
import { toPagePath } from "./page-path.js";

const foundSchema = z
  .strictObject({
    kind: z.string().describe("A resource kind such as `line`, or `task`, `run`, `replay`, `hook-occurrence`, ..."),
    slug: z.string().describe("The slug of its workspace. For a person, the first workspace that you share."),
    path: z.string().describe("The path of the page that shows it, on this service."),
  })
  .meta({ title: "found" });

interface FindRoutesOptions {
  readonly runtime: Runtime;
  readonly kinds: readonly Kind[];
}

/** The route that finds any object by its id. */
export function findRoutes({ runtime, kinds }: FindRoutesOptions): readonly Route[] {
  const findPlace = createFindPlace(kinds);
  return [
    route({
      method: "GET",
      path: "/api/find/{id}",
      operation: "find",
      summary: "Find what an id identifies, and the page that shows it",
      description:
        "Accepts the ids of all kinds. An id that does not exist and an id of something that you may not see are " +
        "both 404.",
      access: "any",
      answers: {
        200: { body: foundSchema, example: { kind: "task", slug: "acme", path: `/tasks/task_${EXAMPLE_ULID}` } },
      },
      problems: ["not-found"],
      handle: async (request) => {
        const view = runtime.view();
        try {
          const place = await runInSteps(findPlace(view, request.caller, request.params.id ?? ""), request);
          if (place === undefined) return { refused: "not-found" };
          const slug = getSlug(view, place.workspaceId);
          return { status: 200, body: { kind: place.kind, slug, path: toPagePath(place.shownOn ?? place, slug) } };
        } finally {
          view.close();
        }
      },
    }),
  ];
}
