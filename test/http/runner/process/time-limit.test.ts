import t from "tap";
import { TimeLimit } from "../../../../http/runner/process/time-limit.js";
import { ManualClock } from "../../../support/manual-clock.js";

t.test("a time limit is over once, after the time in which its clock went", async (t) => {
  const clock = new ManualClock();
  let overs = 0;
  const limit = new TimeLimit(clock, 60_000, () => {
    overs += 1;
  });
  clock.advance(20_000);
  limit.pause(true);
  limit.pause(true);
  clock.advance(3 * 86_400_000);
  limit.pause(false);
  limit.pause(false);
  clock.advance(39_999);
  t.equal(overs, 0);
  clock.advance(1);
  t.equal(overs, 1);
  limit.pause(true);
  limit.pause(false);
  clock.advance(60_000);
  t.equal(overs, 1);
});

t.test("after its end it is never over, whether its clock stood or went", async (t) => {
  const clock = new ManualClock();
  for (const stands of [true, false]) {
    const limit = new TimeLimit(clock, 1_000, () => t.fail("over"));
    limit.pause(stands);
    limit.end();
    limit.pause(false);
    clock.advance(10_000);
  }
});
