import t from "tap";
import { checkFlakiness, judgeAgreement, type TwoLooks } from "../../../actors/statistics/second-looks.js";

const looks = (first: TwoLooks["first"], second: TwoLooks["second"], times = 1): TwoLooks[] =>
  Array.from({ length: times }, () => ({ first, second }));

t.test("agreement is of the changes with two verdicts, passed or failed alike", async (t) => {
  const judgings = [
    ...looks("passed", "passed", 3),
    ...looks("failed", "failed", 2),
    ...looks("failed", "passed"),
    ...looks("passed", "pending", 2),
    ...looks("passed", null),
    ...looks(null, "passed"),
    ...looks(null, "pending"),
  ];
  t.same(judgeAgreement(judgings), { compared: 6, agreed: 5, pending: 2, agreement: 5 / 6, unstable: false });
});

t.test("a judge is unstable below 0.8, and not at it", async (t) => {
  const judge = (agreed: number, not: number) =>
    judgeAgreement([...looks("passed", "passed", agreed), ...looks("passed", "failed", not)]);
  t.match(judge(4, 1), { agreement: 0.8, unstable: false });
  t.match(judge(159, 41), { agreement: 0.795, unstable: true });
  t.match(judge(7, 2), { agreement: 7 / 9, unstable: true });
  t.match(judge(0, 1), { agreement: 0, unstable: true });
});

t.test("before any is compared, agreement is null and nothing is unstable", async (t) => {
  t.same(judgeAgreement(looks("passed", "pending")), {
    compared: 0,
    agreed: 0,
    pending: 1,
    agreement: null,
    unstable: false,
  });
  t.match(judgeAgreement([]), { compared: 0, pending: 0, agreement: null, unstable: false });
});

t.test("a check is flaky where it passed once and failed once", async (t) => {
  const change = (runId: string, first: TwoLooks["first"], second: TwoLooks["second"]) => ({ runId, first, second });
  const flaky = [change("b", "passed", "failed"), change("c", "failed", "passed")];
  const checks = [
    change("a", "passed", "passed"),
    ...flaky,
    change("d", "failed", "pending"),
    change("e", "passed", null),
  ];
  t.same(checkFlakiness(checks), { rechecked: 3, pending: 1, flaky });
});
