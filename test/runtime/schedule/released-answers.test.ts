import t from "tap";
import { ReleasedAnswers } from "../../../runtime/schedule/released-answers.js";
import { DrivenScheduler } from "../../support/driven-scheduler.js";

/** Creates answers. `given` records each answer when its asker receives it. The second answer is an error. */
function toBatch(given: string[], name: string, count: number) {
  return Array.from({ length: count }, (_, n) => ({
    asker: {
      resolve: (answer: unknown) => void given.push(String(answer)),
      reject: (error: Error) => void given.push(error.message),
    },
    answer: `${name}${n}`,
    error: n === 1 ? new Error(`${name}1 failed`) : null,
  }));
}

t.test("answers are given in their order, a few in each round of the loop", async (t) => {
  const scheduler = new DrivenScheduler();
  const answers = new ReleasedAnswers(scheduler);
  const given: string[] = [];
  const batch = (name: string, count: number) => toBatch(given, name, count);
  answers.release(batch("a", 3));
  t.same(given, ["a0", "a1 failed"], "few at once");
  answers.release(batch("b", 20));
  answers.release(batch("c", 2));
  const wanted = [...batch("a", 3), ...batch("b", 20), ...batch("c", 2)].map(({ answer, error }) =>
    error === null ? answer : error.message,
  );
  for (let before = given.length; !scheduler.isIdle; before = given.length) {
    await scheduler.turn();
    t.ok(given.length - before <= 2, `${given.length - before} in a round`);
  }
  t.same(given, wanted);
  answers.release([]);
  t.ok(scheduler.isIdle);
});

t.test("more are given in a round while one client is about", async (t) => {
  const scheduler = new DrivenScheduler();
  let isShared = false;
  const answers = new ReleasedAnswers(scheduler, () => isShared);
  const given: string[] = [];
  answers.release(toBatch(given, "a", 40));
  t.equal(given.length, 16);
  isShared = true;
  await scheduler.turn();
  t.equal(given.length, 18);
});

t.test("answers for later are given after what is deferred already", async (t) => {
  const scheduler = new DrivenScheduler();
  const answers = new ReleasedAnswers(scheduler, () => false);
  const given: string[] = [];
  scheduler.defer(() => void given.push("deferred"));
  answers.release(toBatch(given, "a", 1), { isLater: true });
  answers.release(toBatch(given, "b", 1));
  t.same(given, []);
  while (!scheduler.isIdle) await scheduler.turn();
  t.same(given, ["deferred", "a0", "b0"]);
});

t.test("at the end all that are left are given at once, each once", async (t) => {
  const scheduler = new DrivenScheduler();
  const answers = new ReleasedAnswers(scheduler);
  const given: string[] = [];
  answers.release(toBatch(given, "a", 30));
  t.equal(given.length, 2);
  answers.giveAll();
  t.equal(given.length, 30);
  await scheduler.turn();
  t.ok(scheduler.isIdle);
  t.same([given.length, given.at(-1)], [30, "a29"]);
});
