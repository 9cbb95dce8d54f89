import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { cacheableAnswers, serveCached } from "../wire/cached-answer.js";
import { type Route, route } from "../wire/route.js";
import type { DocumentParts } from "./document.js";

/**
 * The route of the OpenAPI document. The document is created at the first request, when the table of routes is
 * complete, and then cached.
 */
export function openApiRoutes(parts: () => DocumentParts): readonly Route[] {
  let making: Promise<object> | null = null;
  const makeDocument = async (): Promise<object> => {
    const { createOpenApi } = await import("./document.js");
    return createOpenApi(parts(), () => setImmediate());
  };
  return [
    route({
      method: "GET",
      path: "/api/openapi.json",
      summary: "Get the OpenAPI document of this API",
      description: "Lists every endpoint that this service serves, for client generators. Needs no credential.",
      access: "public",
      answers: cacheableAnswers({
        body: z.looseObject({ openapi: z.literal("3.1.0").describe("The version of the OpenAPI specification.") }),
      }),
      handle: serveCached(async () => {
        making ??= makeDocument();
        const body = await making;
        return { body, content: JSON.stringify(body) };
      }),
    }),
  ];
}
