import fc from "fast-check";
import t from "tap";
import { MailLimit } from "../../../http/limits/mail-limit.js";
import { RateLimit } from "../../../http/limits/rate-limit.js";
import { ManualClock } from "../../support/manual-clock.js";

t.test("a source may burst, then continues at its rate, and is told how long to wait", async (t) => {
  const clock = new ManualClock();
  const limit = new RateLimit({ max: 2, perMs: 1_000, burst: 4, clock });
  t.same(
    [1, 2, 3, 4].map(() => limit.take("a")),
    [0, 0, 0, 0],
  );
  t.equal(limit.take("a"), 1);
  t.equal(limit.take("b"), 0, "another source has an allowance of its own");
  clock.advance(499);
  t.equal(limit.take("a"), 1);
  clock.advance(1);
  t.same([limit.take("a"), limit.take("a")], [0, 1]);
  clock.advance(60_000);
  t.same(
    [1, 2, 3, 4, 5].map(() => limit.take("a")),
    [0, 0, 0, 0, 1],
    "a long pause gives no more than the burst",
  );
});

t.test("the announced wait is enough, and no source exceeds its rate", async () => {
  fc.assert(
    fc.property(
      fc.record({ max: fc.integer({ min: 1, max: 500 }), perMs: fc.integer({ min: 100, max: 120_000 }) }),
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 60 }),
      (rate, burst, pauses) => {
        const clock = new ManualClock();
        const limit = new RateLimit({ ...rate, burst, clock });
        const begun = clock.now();
        let admitted = 0;
        for (const pause of pauses) {
          clock.advance(pause);
          if (limit.take("a") === 0) admitted += 1;
        }
        const most = burst + ((clock.now() - begun) * rate.max) / rate.perMs;
        if (admitted > most + 0.01) throw new Error(`${admitted} were admitted, ${most} is the most`);
        while (limit.take("a") === 0);
        const wait = limit.take("a");
        clock.advance(wait * 1_000);
        if (limit.take("a") !== 0) throw new Error(`${wait} seconds were not enough`);
      },
    ),
    { numRuns: 200 },
  );
});

t.test("without a rate everything is admitted and nothing remembered", async (t) => {
  const limit = new RateLimit({ max: 0, perMs: 1_000, burst: 0, clock: new ManualClock() });
  for (let count = 0; count < 10_000; count++) if (limit.take("a") !== 0) t.fail("refused");
  t.equal(limit.size, 0);
});

t.test("the number of stored sources is limited, and the relevant ones are kept", async (t) => {
  const clock = new ManualClock();
  const limit = new RateLimit({ max: 1, perMs: 1_000, burst: 3, clock, maxSources: 100 });
  for (let count = 0; count < 3; count++) limit.take("busy");
  for (let count = 0; count < 99; count++) limit.take(`idle-${count}`);
  clock.advance(1_500);
  for (let count = 0; count < 50; count++) limit.take(`new-${count}`);
  t.ok(limit.size <= 100);
  limit.take("busy");
  t.equal(limit.take("busy"), 1, "it is not forgotten for those whose allowance is full again");
  for (let count = 0; count < 100_000; count++) limit.take(`many-${count}`);
  t.ok(limit.size <= 100);
});

t.test("what was counted while the clock was ahead keeps nobody out once it is put right", (t) => {
  const clock = new ManualClock();
  const rate = new RateLimit({ max: 2, perMs: 1_000, burst: 4, clock });
  const mails = new MailLimit({ max: 4, windowMs: 60_000, clock });
  for (const limit of [rate, mails]) {
    const seconds = () => Array.from({ length: 5 }, () => limit.take("a"));
    clock.advance(86_400_000);
    t.same(seconds().slice(0, 4), [0, 0, 0, 0]);
    t.ok(limit.take("a") > 0);
    clock.setBack(86_400_000);
    t.same(seconds().slice(0, 4), [0, 0, 0, 0]);
    t.ok(limit.take("a") > 0, "and counts from then on");
  }
  t.end();
});
