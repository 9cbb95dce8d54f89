import { z } from "zod";
import { timeText } from "../../actors/time-text.js";
import { defineView } from "../../actors/view.js";
import type { DeadLetter, Runtime } from "../../runtime/runtime.js";
import type { Route } from "../wire/route.js";
import { workspaceRoute } from "../wire/workspace-route.js";

const letterSchema = z
  .strictObject({
    id: z.string(),
    /** The receiving actor as `<kind>/<id>`. */
    to: z.string(),
    /** The message type. The content is not shown. */
    message: z.string(),
    error: z.string(),
    at: z.string(),
  })
  .meta({ title: "dead-letter" });

const LISTED = 200;

/** The routes to list and retry the dead letters of a workspace, for its administrators. */
export function deadLetterRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  return [
    workspaceRoute(runtime, "administers", {
      method: "GET",
      path: "/api/workspaces/{slug}/dead-letters",
      summary: "List dead letters: messages that repeatedly failed, oldest first",
      access: "any",
      answers: { 200: z.strictObject({ items: z.array(letterSchema) }) },
      handle: (_request, { workspaceId }) => ({
        status: 200,
        body: { items: runtime.deadLetters.list(workspaceId, LISTED).map(letterView) },
      }),
    }),
    workspaceRoute(runtime, "administers", {
      method: "POST",
      path: "/api/workspaces/{slug}/dead-letters/{id}/retry",
      summary: "Send a dead letter again",
      access: "any",
      body: z.strictObject({}),
      answers: { 202: null },
      handle: async ({ params }, { workspaceId }) => {
        const found = await runtime.deadLetters.retry(workspaceId, params.id ?? "");
        return found ? { status: 202 } : { refused: "not-found" };
      },
    }),
  ];
}

const letterView = defineView<DeadLetter>()(letterSchema, {
  to: ({ to }) => `${to.kind}/${to.id}`,
  message: ({ message }) => message.type,
  at: ({ atMs }) => timeText(atMs),
});
