import { createHash } from "node:crypto";
import type { Answer, Route, RouteRequest, Success } from "../wire/route.js";

/** Returns the headers of content that a client caches and revalidates. */
export function cacheHeaders(contents: string): { readonly etag: string; readonly "cache-control": string } {
  return { etag: `"${createHash("sha256").update(contents).digest("base64url")}"`, "cache-control": "no-cache" };
}

/** Returns the declared responses of a route whose content clients cache and revalidate. */
export function cacheableAnswers(success: Success): Route["answers"] {
  const headers = { etag: "Identifies the content.", "cache-control": "`no-cache`: ask before a copy is used." };
  return { 200: { ...success, headers }, 304: { body: null, headers } };
}

/** Returns the response, or 304 if the client's copy is current. */
export function answerUnlessCached(request: Pick<RouteRequest, "header">, answer: Answer): Answer {
  const { headers } = answer;
  const isCurrent = headers !== undefined && request.header("if-none-match") === headers.etag;
  return isCurrent ? { status: 304, headers } : answer;
}
