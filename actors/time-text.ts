let last = { ms: Number.NaN, text: "" };

/**
 * Formats a time in RFC 3339, in UTC with milliseconds. The function caches the last text, because formatting is
 * expensive.
 */
export function timeText(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}
