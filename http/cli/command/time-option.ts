import { InvalidArgumentError, Option } from "commander";

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i;

/** Creates an option that takes a time: RFC 3339, or how long ago, such as `2h`. The value is RFC 3339. */
export function timeOption(flags: string, description: string): Option {
  return new Option(flags, `${description}: RFC 3339, or an age such as 30m, 2h or 7d`).argParser((text) =>
    toTime(text, Date.now(), -1),
  );
}

/** Creates an option that takes a time: RFC 3339, or how long from now, such as `90d`. The value is RFC 3339. */
export function laterOption(flags: string, description: string): Option {
  return new Option(flags, `${description}: RFC 3339, or a time from now such as 12h or 90d`).argParser((text) =>
    toTime(text, Date.now(), 1),
  );
}

/**
 * Converts a time to RFC 3339. A duration counts from now: into the future if `direction` is 1, into the past if it is
 * -1. Throws an `InvalidArgumentError`, which commander reports, for any other text.
 */
function toTime(text: string, nowMs: number, direction: 1 | -1): string {
  const [, number, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  if (number !== undefined)
    return new Date(nowMs + direction * Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS]).toISOString();
  if (RFC_3339.test(text) && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString();
  throw new InvalidArgumentError(
    "It must be RFC 3339 such as 2026-11-21T09:00:00Z, or a period such as 30m, 2h or 7d.",
  );
}
