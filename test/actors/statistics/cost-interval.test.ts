import t from "tap";
import { decimal, fraction, multiply, toNumber, ZERO } from "../../../actors/fraction.js";
import { costInterval } from "../../../actors/statistics/cost-interval.js";
import { bootstrapMean } from "../../../actors/statistics/interval.js";

const shown = (costs: readonly number[]) => {
  const interval = costInterval(costs.map(decimal));
  return interval === null ? null : [toNumber(interval.low), toNumber(interval.high)];
};

t.test("the interval of a cost is that of its mean over tasks, however small the amounts", async (t) => {
  t.equal(shown([]), null);
  t.same(shown([0, 0]), [0, 0]);
  t.same(shown([0.3]), [0.3, 0.3]);
  t.same(shown([0.0002, 0.0002, 0.0002]), [0.0002, 0.0002]);
  const shares = [0, 1, 1, 0, 1, 0, 0, 1];
  const ofShares = bootstrapMean(shares.map((share) => (share === 0 ? ZERO : fraction(1))));
  const scale = decimal(0.00012);
  const scaled = ofShares === null ? null : [ofShares.low, ofShares.high].map((end) => toNumber(multiply(end, scale)));
  t.same(shown(shares.map((share) => share * 0.00012)), scaled);
});
