import { toLines } from "../command/printable.js";
import type { Firing } from "./hook-names.js";

type Attempt = Pick<Firing["attempts"][number], "url" | "requestHeaders" | "requestBody">;

/**
 * Returns the request of an attempt as a curl command for a POSIX shell, in lines. The stored request contains no
 * secrets: masked values stay masked, and a long body is cut. Returns null for a tool call, whose request is not stored
 * in full, and for an attempt that sent no request.
 */
export function toCurl({ url, requestHeaders, requestBody }: Attempt): readonly string[] | null {
  if (url === null || requestHeaders["webhook-id"] === undefined) return null;
  const headers = Object.entries(requestHeaders).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  const body = requestBody === null || requestBody === "" ? [] : [`--data-raw ${quote(requestBody)}`];
  return [`curl ${quote(url)}`, ...headers, ...body].join(" \\\n  ").split("\n");
}

/** Quotes a text for a POSIX shell, without its control characters. */
function quote(text: string): string {
  return `'${toLines(text).replaceAll("'", "'\\''")}'`;
}
