/** A fault in a request. Both transports refuse it in the same way. */
export interface Fault {
  readonly status: number;
  readonly detail: string;
}

export const REPEATED_HOST = "the header host is repeated";
export const OTHER_ENCODING = "transfer-encoding must be chunked, and must not be repeated";

/** Whether `transfer-encoding`, with all its lines joined, is absent or only `chunked`. */
export function isChunkedAlone(encoding: string | undefined): boolean {
  return encoding === undefined || encoding.toLowerCase() === "chunked";
}
