import { z } from "zod";
import { findVisibleResource, type VisibleResource } from "../../actors/access/visibility/resource.queries.js";
import { callerId } from "../../actors/caller.js";
import { exportOne } from "../../actors/export/resource-export.js";
import { exportWorkspace, type FilePiece } from "../../actors/export/workspace-export.js";
import type { Kind } from "../../actors/resources/kind.js";
import type { Runtime } from "../../runtime/runtime.js";
import { ConcurrencyLimit } from "../limits/concurrency-limit.js";
import type { Route } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";
import { streamView } from "../wire/view-stream.js";
import { withArticle } from "./kind-name.js";

const files = z
  .array(
    z.strictObject({
      path: z.string().describe("Path of the file, relative to the module's folder."),
      content: z.string().describe("Complete text of the file, UTF-8."),
    }),
  )
  .describe("Relative paths in order, with each file's content.");

/**
 * The routes that export a workspace, or one resource of an exported kind, as HCL (see "Export" in the configuration
 * API document).
 */
export function exportRoutes(options: ExportRoutesOptions): Route[] {
  const { runtime, kinds } = options;
  const underWay = new ConcurrencyLimit(MAX_EXPORTS);
  const whole = kinds.filter((kind) => kind.heldBy === "none").map((kind) => workspaceRoute(options, kind, underWay));
  return [...whole, ...kinds.filter((kind) => kind.hcl !== null).map((kind) => resourceRoute(runtime, kind))];
}

/**
 * Maximum number of concurrent workspace exports. Each export holds a view of the store, for minutes if the client is
 * slow.
 */
const MAX_EXPORTS = { each: 4, workspace: 16, all: 64 };

interface ExportRoutesOptions {
  readonly runtime: Runtime;
  readonly kinds: readonly Kind[];
}

function workspaceRoute({ runtime, kinds }: ExportRoutesOptions, kind: Kind, underWay: ConcurrencyLimit): Route {
  return subjectRoute(toResource(kind, runtime), {
    method: "GET",
    path: `/api/resources/${kind.plural}/{id}/export`,
    summary: `Export a whole ${kind.name} as an HCL module`,
    description:
      `A person or token can have ${MAX_EXPORTS.each} exports in progress, and a workspace ${MAX_EXPORTS.workspace}; ` +
      "further requests get 429. The response must be read within five minutes.",
    access: "any",
    answers: { 200: z.strictObject({ files }) },
    handle: async (request, row) => {
      const end = underWay.begin(callerId(request.caller), row.workspaceId);
      if (end === null) {
        return { refused: "too-many-requests", detail: "Too many exports are in progress.", retryAfterSeconds: 5 };
      }
      const read = (view: Runtime["reading"]) => filesJson(exportWorkspace(view, kinds, row));
      return { status: 200, stream: await streamView(runtime, request, { read, end }) };
    },
  });
}

function resourceRoute(runtime: Runtime, kind: Kind): Route {
  return subjectRoute(toResource(kind, runtime), {
    method: "GET",
    path: `/api/resources/${kind.plural}/{id}/hcl`,
    summary: `Export ${withArticle(kind)} as HCL`,
    description: "Returns one resource block, and the files with its long texts. Write-only values are omitted.",
    access: "any",
    answers: {
      200: z.strictObject({
        hcl: z.string().describe("The resource block in HCL; it reads its long texts from `files`."),
        files,
      }),
    },
    handle: (_request, row) => ({ status: 200, body: exportOne(runtime.reading, kind, row) }),
  });
}

function toResource(kind: Kind, { reading }: Runtime): Subject<VisibleResource> {
  return { find: ({ caller, params }) => findVisibleResource(kind, reading, caller, params.id ?? "") };
}

/**
 * Encodes `{ "files": [{ "path", "content" }] }` as JSON, one piece per step of the export. Steps do not split
 * surrogate pairs, so the text does not depend on the step boundaries.
 */
function* filesJson(steps: Iterable<readonly FilePiece[]>): Generator<string> {
  let path: string | null = null;
  let json = '{"files":[';
  for (const step of steps) {
    for (const piece of step) {
      if (piece.path !== path) {
        json += `${path === null ? "" : '"},'}{"path":${JSON.stringify(piece.path)},"content":"`;
        path = piece.path;
      }
      json += JSON.stringify(piece.text).slice(1, -1);
    }
    yield json;
    json = "";
  }
  yield path === null ? "]}" : '"}]}';
}
