/** Faults of requests that both transports refuse alike. */
export interface Fault {
  readonly status: number;
  readonly detail: string;
}

export const REPEATED_HOST = "the header host stands twice";
export const OTHER_ENCODING = "transfer-encoding must be chunked, and stand once";

/** Whether `transfer-encoding`, with all of its lines joined, is absent or `chunked` alone. */
export function isChunkedAlone(encoding: string | undefined): boolean {
  return encoding === undefined || encoding.toLowerCase() === "chunked";
}
