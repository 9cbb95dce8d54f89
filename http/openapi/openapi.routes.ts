import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { type Answer, type Route, route } from "../wire/route.js";
import { answerUnlessCached, cacheableAnswers, cacheHeaders } from "./cached-contents.js";
import type { DocumentParts } from "./document.js";

/**
 * The route of the OpenAPI document. The document is created at the first request, when the table of routes is
 * complete, and then cached.
 */
export function openApiRoutes(parts: () => DocumentParts): readonly Route[] {
  let making: Promise<Answer> | null = null;
  const documented = async (): Promise<Answer> => {
    const { createOpenApi } = await import("./document.js");
    const body = await createOpenApi(parts(), () => setImmediate());
    const json = JSON.stringify(body);
    return { status: 200, body, json, headers: cacheHeaders(json) };
  };
  return [
    route({
      method: "GET",
      path: "/api/openapi.json",
      summary: "Get the OpenAPI document of this API",
      access: "public",
      answers: cacheableAnswers({ body: z.looseObject({ openapi: z.literal("3.1.0") }) }),
      handle: async (request) => {
        making ??= documented();
        return answerUnlessCached(request, await making);
      },
    }),
  ];
}
