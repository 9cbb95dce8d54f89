import { createHash } from "node:crypto";
import { z } from "zod";
import { type Route, route, type Success } from "../route.js";
import { createOpenApi, type DocumentParts } from "./document.js";

/** Headers by which a client keeps a copy and asks whether it is still good. */
const kept = { etag: "Of the contents.", "cache-control": "`no-cache`: ask before a copy is used." } as const;
const unchanged: Success = { body: null, headers: kept };

/** The OpenAPI document; made when it is first asked for, since the table it is made from then stands. */
export function openApiRoutes(parts: () => DocumentParts): readonly Route[] {
  let made: { readonly document: unknown; readonly headers: Readonly<Record<string, string>> } | null = null;
  const documented = () => {
    if (made === null) {
      const document = createOpenApi(parts());
      const hash = createHash("sha256").update(JSON.stringify(document)).digest("base64url");
      made = { document, headers: { etag: `"${hash}"`, "cache-control": "no-cache" } };
    }
    return made;
  };
  return [
    route({
      method: "GET",
      path: "/api/openapi.json",
      summary: "This document",
      access: "public",
      answers: {
        200: { body: z.looseObject({ openapi: z.literal("3.1.0") }), headers: kept, example: { openapi: "3.1.0" } },
        304: unchanged,
      },
      handle: (request) => {
        const { document, headers } = documented();
        if (request.header("if-none-match") === headers.etag) return { status: 304, headers };
        return { status: 200, body: document, headers };
      },
    }),
  ];
}
