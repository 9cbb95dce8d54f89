/** A fault in a request. Both transports refuse it in the same way. */
export interface Fault {
  readonly status: number;
  readonly detail: string;
}

export const REPEATED_HOST = "the header host is repeated";
export const OTHER_ENCODING = "transfer-encoding must be chunked, and must not be repeated";

/** Whether `encoding`, the joined values of all `transfer-encoding` headers, is undefined or exactly `chunked`. */
export function isChunkedAlone(encoding: string | undefined): boolean {
  return encoding === undefined || encoding.toLowerCase() === "chunked";
}
