import t from "tap";
import { fraction, toNumber } from "../../../actors/fraction.js";
import { successGain } from "../../../actors/statistics/gain.js";
import { detectableGain, varianceWithinTasks } from "../../../actors/statistics/minimum-gain.js";
import { listCopies, listTasks } from "./copies.js";
import { simulateCopies } from "./simulated-copies.js";

t.test("the variance within tasks is the mean over tasks with two scored copies, unbiased", async (t) => {
  const copies = listCopies({ a: "+-", b: "++", c: "+--?", "d/1": "+", "d/2": "-", e: "+", f: "?." });
  // The variances of four tasks are 1/2, 0, 1/3 and 1/2. Tasks e and f have no second scored copy.
  t.same(varianceWithinTasks(copies), fraction(1, 3));
  t.equal(varianceWithinTasks(listTasks(9, "+")), null);
  t.equal(varianceWithinTasks([]), null);
});

t.test(
  "the detectable gain is 1.96 standard errors of the gain, null under five tasks or without a repeat",
  async (t) => {
    const live = listTasks(6, "+-");
    t.equal(detectableGain(live, { tasks: 5, own: 1, other: 1 }), 1.96 * Math.sqrt(1 / 5));
    t.equal(detectableGain(live, { tasks: 20, own: 2, other: 4 }), 1.96 * Math.sqrt((0.5 * 0.75) / 20));
    t.equal(detectableGain(listTasks(6, "++"), { tasks: 6, own: 1, other: 1 }), 0);
    t.equal(detectableGain(live, { tasks: 4, own: 1, other: 1 }), null);
    t.equal(detectableGain(listTasks(6, "+"), { tasks: 6, own: 1, other: 1 }), null);
  },
);

t.test("of replays that differ by nothing, one in twenty gains or loses as much", async (t) => {
  const rates = Array.from({ length: 30 }, (_, n) => n / 29);
  const replay = simulateCopies(5);
  const live = Array.from({ length: 40 }, () => replay(rates, 3)).flat();
  const variance = rates.reduce((sum, rate) => sum + rate * (1 - rate), 0) / rates.length;
  t.ok(Math.abs(toNumber(varianceWithinTasks(live) ?? fraction(0)) - variance) < 0.01);
  const detectable = detectableGain(live, { tasks: 30, own: 3, other: 3 }) ?? 0;
  const gains = Array.from({ length: 800 }, () => successGain(replay(rates, 3), replay(rates, 3), 0.05)?.gain ?? 1);
  const beyond = gains.filter((gain) => Math.abs(gain) > detectable).length / gains.length;
  t.ok(beyond > 0.03 && beyond < 0.07, `${beyond}`);
});
