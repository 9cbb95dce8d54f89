const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats a duration in seconds with its largest unit: `3 days`, `1 h`, `12 min`, `40 s`. */
export function toDuration(seconds: number): string {
  const units = [
    [DAY, seconds < 2 * DAY ? "day" : "days"],
    [HOUR, "h"],
    [MINUTE, "min"],
  ] as const;
  const [size, name] = units.find(([unit]) => seconds >= unit) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${name}`;
}
