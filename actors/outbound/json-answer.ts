import { RequestRefused } from "./request.js";

/** Why a request failed, by its code: the text of an error may repeat what came. */
export function toReason(error: unknown): string {
  if (error instanceof RequestRefused) return error.message;
  if (!(error instanceof Error)) return "it failed";
  if (error.name === "TimeoutError" || error.name === "AbortError") return "it took too long";
  return "code" in error && typeof error.code === "string" ? error.code : "it failed";
}

/** A text as JSON, or undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
