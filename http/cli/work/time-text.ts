const FORM = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });

/** Converts a time of the API to local time, such as `2026-11-28 14:05`. Null stays null. */
export function toTimeText(at: string | null): string | null {
  return at === null ? null : FORM.format(new Date(at));
}
