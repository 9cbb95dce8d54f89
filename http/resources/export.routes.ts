import { z } from "zod";
import { permit } from "../../actors/access/visibility.js";
import { exportOne } from "../../actors/export/resource-export.js";
import { exportWorkspace } from "../../actors/export/workspace-export.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import type { Kind } from "../../actors/resources/kind.js";
import { placeOf } from "../../actors/resources/place.js";
import { type ResourceRow, resourceById } from "../../actors/resources/resource-rows.js";
import type { Reading } from "../../storage/store.js";
import { type Route, type RouteRequest, route } from "../route.js";

const files = z
  .array(z.strictObject({ path: z.string(), content: z.string() }))
  .describe("Relative paths, in their order, with what each file holds.");

/** A workspace, or one resource of any exported kind, as HCL (configuration API, Export). Needs only to read. */
export function exportRoutes({
  reading,
  kinds,
}: {
  readonly reading: Reading;
  readonly kinds: readonly Kind[];
}): Route[] {
  const whole = kinds.filter((kind) => kind.heldBy === "none").map((kind) => workspaceRoute(reading, kinds, kind));
  return [...whole, ...kinds.filter((kind) => kind.hcl !== null).map((kind) => resourceRoute(reading, kind))];
}

function workspaceRoute(reading: Reading, kinds: readonly Kind[], kind: Kind): Route {
  return route({
    method: "GET",
    path: `/api/resources/${kind.plural}/{id}/export`,
    summary: `Export a whole ${kind.name} as an HCL module`,
    access: "any",
    answers: { 200: z.strictObject({ files }) },
    handle: (request) => {
      const row = readable(reading, kind, request);
      return isRefusal(row) ? row : { status: 200, body: { files: exportWorkspace(reading, kinds, row) } };
    },
  });
}

function resourceRoute(reading: Reading, kind: Kind): Route {
  return route({
    method: "GET",
    path: `/api/resources/${kind.plural}/{id}/hcl`,
    summary: `Export a ${kind.name} as HCL`,
    access: "any",
    answers: { 200: z.strictObject({ hcl: z.string(), files }) },
    handle: (request) => {
      const row = readable(reading, kind, request);
      return isRefusal(row) ? row : { status: 200, body: exportOne(reading, kind, row) };
    },
  });
}

function readable(
  reading: Reading,
  kind: Kind,
  { caller, params }: Pick<RouteRequest<"any">, "caller" | "params">,
): ResourceRow | Refusal {
  const id = params.id ?? "";
  const place = placeOf(reading, id);
  if (place === undefined || place.kind !== kind.name) return { refused: "not-found" };
  const refused = permit(reading, caller, place.workspaceId, "read", kind.name);
  return refused ?? resourceById(reading, place.workspaceId, kind.name, id) ?? { refused: "not-found" };
}
