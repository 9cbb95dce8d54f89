let last = { ms: Number.NaN, text: "" };

/** A time in RFC 3339, UTC with milliseconds. What happens in one millisecond shares the text: writing it is dear. */
export function timeText(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}
