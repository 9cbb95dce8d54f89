import t from "tap";
import {
  isRetried,
  MAX_ATTEMPTS,
  requestedWaitMs,
  retryWaitMs,
} from "../../../../actors/hooks/delivery/retry-policy.js";

t.test("waits begin at 2 seconds and double up to 1 hour, over 8 attempts in all", async (t) => {
  const waits = Array.from({ length: MAX_ATTEMPTS - 1 }, (_, index) => retryWaitMs(index + 1) / 1_000);
  t.same(waits, [2, 4, 8, 16, 32, 64, 128]);
  t.equal(retryWaitMs(13), 60 * 60 * 1_000);
});

t.test("only temporary failures are tried again", async (t) => {
  for (const code of ["unreachable", "timeout", "throttled", "server-error", "tool-failed", "errored"] as const)
    t.ok(isRetried(code));
  for (const code of ["rejected", "not-allowed", "unwritable", "broken", "loop", "superseded"] as const)
    t.notOk(isRetried(code));
});

t.test("a receiver asks for a wait in seconds or by a date, and gets an hour at most", async (t) => {
  const nowMs = Date.parse("2026-11-21T08:00:00Z");
  const hourMs = 60 * 60 * 1_000;
  const cases: [string | null, number | null][] = [
    [null, null],
    ["0", null],
    ["1", 1_000],
    [" 120 ", 120_000],
    ["3601", hourMs],
    ["9999999999", hourMs],
    ["99999999999", null],
    ["1.5", null],
    ["-1", null],
    ["soon", null],
    ["2026-11-21T08:00:10Z", null],
    ["Sat, 21 Nov 2026 08:00:10 GMT", 10_000],
    ["Saturday, 21-Nov-26 08:00:10 GMT", 10_000],
    ["Sat Nov 21 08:00:10 2026 GMT", 10_000],
    ["Sun, 22 Nov 2026 08:00:00 GMT", hourMs],
    ["Sat, 21 Nov 2026 07:59:59 GMT", null],
    ["Sat, 99 Nov 2026 08:00:00 GMT", null],
  ];
  for (const [given, wanted] of cases) t.equal(requestedWaitMs(given, nowMs), wanted, String(given));
});
