/** A fault in a request. Both transports refuse it in the same way. */
export interface Fault {
  readonly status: number;
  readonly detail: string;
}

export const REPEATED_HOST = "the header host stands twice";
export const OTHER_ENCODING = "transfer-encoding must be chunked, and stand once";

/** Whether `transfer-encoding`, with all its lines joined, is absent or only `chunked`. */
export function isChunkedAlone(encoding: string | undefined): boolean {
  return encoding === undefined || encoding.toLowerCase() === "chunked";
}
