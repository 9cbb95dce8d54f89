import t from "tap";
import { estimateCost, judgingWarnings, type ModelTerms } from "../../../../actors/replays/judging/model-terms.js";
import { judge } from "../../../support/run-config.js";

const prices = { in: 3, out: 15, currency: "EUR", models: { small: { in: 1, out: 2 } } };
const priced: ModelTerms = { name: "big", prices };
const unpriced: ModelTerms = { name: "big", prices: null };
const outside = [{ kind: "judging-outside-ceiling" }];

t.test("a question counts all that is sent, and as long an answer as there may be", async (t) => {
  const messages = [{ role: "user", content: "x".repeat(300) }] as const;
  t.same(estimateCost(priced, { messages, model: null }), { amount: 0.120324, currency: "EUR" });
  t.same(estimateCost(priced, { messages, model: "small" }), { amount: 0.016108, currency: "EUR" });
  t.equal(estimateCost(priced, { messages, model: "unknown" }), null);
  t.equal(estimateCost(unpriced, { messages, model: null }), null);
});

t.test("the start of a replay says that nobody judges, or that the ceiling does not cover it", async (t) => {
  t.same(judgingWarnings(null, null, "EUR"), [], "no judge");
  t.same(judgingWarnings(judge, null, "EUR"), [{ kind: "judging-not-set-up" }]);
  t.same(judgingWarnings(judge, unpriced, "EUR"), outside);
  t.same(judgingWarnings(judge, priced, "USD"), outside, "prices in another currency");
  t.same(judgingWarnings({ model: "unknown" }, priced, "EUR"), outside, "a model without a price");
  t.same(judgingWarnings({ model: "small" }, priced, "EUR"), []);
  t.same(judgingWarnings({ model: "" }, priced, "EUR"), [], "no name is the default");
});
