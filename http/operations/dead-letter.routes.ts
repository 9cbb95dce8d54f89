import { z } from "zod";
import type { PersonCaller, TokenCaller } from "../../actors/access/caller.js";
import { permit } from "../../actors/access/visibility.js";
import { findWorkspaceBySlug } from "../../actors/workspaces/workspace.machine.js";
import type { DeadLetter, Runtime } from "../../runtime/runtime.js";
import { type Route, route } from "../route.js";

const letterSchema = z
  .strictObject({
    id: z.string(),
    /** The actor it was for, `<kind>/<id>`. */
    to: z.string(),
    /** The type of the message; its contents stay inside. */
    message: z.string(),
    error: z.string(),
    at: z.string(),
  })
  .meta({ title: "dead-letter" });

const LISTED = 200;

/** Messages that kept crashing their actor: read and sent again by those who administer the workspace. */
export function deadLetterRoutes({ runtime }: { readonly runtime: Runtime }): readonly Route[] {
  const administered = (caller: PersonCaller | TokenCaller, slug: string | undefined): string | undefined => {
    const workspaceId = findWorkspaceBySlug(runtime.reading, slug ?? "");
    if (workspaceId === undefined || caller.kind !== "person") return undefined;
    return permit(runtime.reading, caller, workspaceId, "administer", "workspace") === null ? workspaceId : undefined;
  };
  return [
    route({
      method: "GET",
      path: "/api/workspaces/{slug}/dead-letters",
      summary: "Messages that were set aside because they kept failing, oldest first",
      access: "any",
      answers: { 200: z.strictObject({ items: z.array(letterSchema) }) },
      handle: ({ caller, params }) => {
        const workspaceId = administered(caller, params.slug);
        if (workspaceId === undefined) return { refused: "not-found" };
        return { status: 200, body: { items: runtime.deadLetters.list(workspaceId, LISTED).map(letterView) } };
      },
    }),
    route({
      method: "POST",
      path: "/api/workspaces/{slug}/dead-letters/{id}/retry",
      summary: "Send a message that was set aside again",
      access: "any",
      body: z.strictObject({}),
      answers: { 202: null },
      handle: async ({ caller, params }) => {
        const workspaceId = administered(caller, params.slug);
        if (workspaceId === undefined) return { refused: "not-found" };
        const found = await runtime.deadLetters.retry(workspaceId, params.id ?? "");
        return found ? { status: 202 } : { refused: "not-found" };
      },
    }),
  ];
}

function letterView({ id, to, message, error, atMs }: DeadLetter): z.output<typeof letterSchema> {
  return { id, to: `${to.kind}/${to.id}`, message: message.type, error, at: new Date(atMs).toISOString() };
}
