import t from "tap";
import { addMoney } from "../../actors/money.js";

t.test("money adds up without errors of binary fractions, and not across currencies", async (t) => {
  const cent = { amount: 0.1, currency: "USD" };
  const sum = Array.from({ length: 30 }, () => cent).reduce((total, one) => addMoney(total, one) ?? total);
  t.same(sum, { amount: 3, currency: "USD" });
  t.equal(addMoney(cent, { amount: 0.1, currency: "EUR" }), null);
});
