/**
 * Returns the headers that continue the current trace at a receiver: `traceparent` and `tracestate` (W3C Trace Context).
 * Empty without a trace.
 */
export type TraceHeaders = () => Readonly<Record<string, string>>;

/** The headers of a deployment that records no traces. */
export const untraced: TraceHeaders = () => ({});
