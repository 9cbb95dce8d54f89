import { readFile } from "node:fs/promises";
import { cacheableAnswers, serveCached } from "../wire/cached-answer.js";
import { type Route, route } from "../wire/route.js";
import { EXPLORER_PATH, PAGE_SCRIPT_PATH, page, pageScript } from "./docs-page.js";

/** The script of openapi-explorer. The build copies the script to this path. */
const EXPLORER = new URL("../../bundle/pages/explorer.js", import.meta.url);

/**
 * The content security policy of the page. The component that shows the document needs inline styles. It needs neither
 * `eval` nor requests to other hosts, so the policy forbids both.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The routes of the page that shows the OpenAPI document. The service hosts everything that the page needs. */
export function docsRoutes(): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/",
      operation: "openDocs",
      summary: "Redirect to the API documentation page",
      description: "The service's own address opens the page at `/docs`. Needs no credential.",
      access: "public",
      answers: { 302: { body: null, headers: { location: "The page." } } },
      handle: () => ({ status: 302, headers: { location: "/docs" } }),
    }),
    route({
      method: "GET",
      path: "/docs",
      summary: "Open the API documentation page",
      description: "Shows this document in a browser and sends requests from there. Loads nothing from other hosts.",
      access: "public",
      answers: cacheableAnswers({
        body: null,
        text: "text/html",
        headers: { "content-security-policy": "The content security policy of the page." },
      }),
      handle: serveCached(async () => ({
        type: "text/html; charset=utf-8",
        content: page,
        headers: { "content-security-policy": policy },
      })),
    }),
    scriptRoute(EXPLORER_PATH, "Get the script that renders the OpenAPI document", () => readFile(EXPLORER)),
    scriptRoute(PAGE_SCRIPT_PATH, "Get the script of the API documentation page", async () => pageScript),
  ];
}

function scriptRoute(path: string, summary: string, read: () => Promise<string | Uint8Array>): Route {
  return route({
    method: "GET",
    path,
    summary,
    description: "The page at `/docs` loads it. Clients revalidate their copy with `If-None-Match`.",
    access: "public",
    answers: cacheableAnswers({ body: null, text: "text/javascript" }),
    handle: serveCached(async () => ({ type: "text/javascript; charset=utf-8", content: await read() })),
  });
}
