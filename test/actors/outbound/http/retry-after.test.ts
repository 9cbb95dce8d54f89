import t from "tap";
import { requestedWaitMs } from "../../../../actors/outbound/http/retry-after.js";

t.test("a host asks for a wait in seconds or by a date, and gets an hour at most", async (t) => {
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
    ["Sat Nov 21 08:00:10 2026", 10_000],
    ["Sat, 21 Nov 2026 10:00:10 +0200", 10_000],
    ["Sun, 22 Nov 2026 08:00:00 GMT", hourMs],
    ["Sat, 21 Nov 2026 07:59:59 GMT", null],
    ["Sat, 99 Nov 2026 08:00:00 GMT", null],
  ];
  const { TZ: zone } = process.env;
  t.teardown(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });
  for (const machine of ["UTC", "America/New_York", "Asia/Tokyo"]) {
    process.env.TZ = machine;
    for (const [given, wanted] of cases) t.equal(requestedWaitMs(given, nowMs), wanted, `${given} in ${machine}`);
  }
});
