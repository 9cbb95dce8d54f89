/** The recorded value of a header that authenticates the request, or that the hook defines. */
export const LEFT_OUT = "(left out)";

const RECORDED_HEADERS: ReadonlySet<string> = new Set([
  ...["content-type", "user-agent", "webhook-id", "webhook-timestamp", "service-hook", "service-callback-url"],
  ...["service-cause", "service-test", "traceparent"],
]);

/**
 * Returns the headers to store in the history. Hides the values of headers that authenticate the request or that the
 * hook defines.
 */
export function toRecordedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const recorded: Record<string, string> = { ...headers };
  for (const name in headers) if (!RECORDED_HEADERS.has(name)) recorded[name] = LEFT_OUT;
  return recorded;
}
