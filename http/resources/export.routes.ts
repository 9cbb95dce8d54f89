import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { exportOne } from "../../actors/export/resource-export.js";
import { exportWorkspace } from "../../actors/export/workspace-export.js";
import { isRefusal } from "../../actors/refusal.js";
import type { Kind } from "../../actors/resources/kind.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Reading } from "../../storage/store.js";
import { type Route, route } from "../route.js";
import { findRow } from "./resource-reads.js";

const files = z
  .array(z.strictObject({ path: z.string(), content: z.string() }))
  .describe("Relative paths, in their order, with what each file holds.");

/** A workspace, or one resource of any exported kind, as HCL (configuration API, Export). Needs only to read. */
export function exportRoutes({ runtime, kinds }: ExportRoutesOptions): Route[] {
  const whole = kinds.filter((kind) => kind.heldBy === "none").map((kind) => workspaceRoute(runtime, kinds, kind));
  return [...whole, ...kinds.filter((kind) => kind.hcl !== null).map((kind) => resourceRoute(runtime.reading, kind))];
}

interface ExportRoutesOptions {
  readonly runtime: Runtime;
  readonly kinds: readonly Kind[];
}

function workspaceRoute(runtime: Runtime, kinds: readonly Kind[], kind: Kind): Route {
  return route({
    method: "GET",
    path: `/api/resources/${kind.plural}/{id}/export`,
    summary: `Export a whole ${kind.name} as an HCL module`,
    access: "any",
    answers: { 200: z.strictObject({ files }) },
    handle: async (request) => {
      const row = findRow(kind, runtime.reading, request);
      if (isRefusal(row)) return row;
      const view = runtime.view();
      try {
        return { status: 200, body: { files: await inTurns(exportWorkspace(view, kinds, row)) } };
      } finally {
        view.close();
      }
    },
  });
}

/** Goes on with a long piece of work until it is done, and lets other work have its turn between its steps. */
async function inTurns<Result>(work: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

function resourceRoute(reading: Reading, kind: Kind): Route {
  return route({
    method: "GET",
    path: `/api/resources/${kind.plural}/{id}/hcl`,
    summary: `Export a ${kind.name} as HCL`,
    access: "any",
    answers: { 200: z.strictObject({ hcl: z.string(), files }) },
    handle: (request) => {
      const row = findRow(kind, reading, request);
      return isRefusal(row) ? row : { status: 200, body: exportOne(reading, kind, row) };
    },
  });
}
