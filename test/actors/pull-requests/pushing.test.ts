import t from "tap";
import {
  branch,
  closedAt,
  findBranch,
  head,
  mergedAt,
  notes,
  SteppedPullRequest,
  T0,
  told,
  toPicture,
  url,
} from "../../support/pull-request-scene.js";
import type { TurnTaken } from "../../support/turn.js";

/** Tests what happens if a pull request changes while a run is about to push to it. */

t.test("a merge while hooks are asked is told to the run, which goes to a person", async (t) => {
  const pr = new SteppedPullRequest();
  pr.open();
  pr.ask({ runId: "run_2", changed: ["b.ts"] });
  t.match(told(pr.seen(mergedAt(T0 + 5_000))), [{ refused: /is now merged/ }]);
  t.equal(pr.actor.value, "merged");
});

t.test(
  "a merge while a runner pushes: its run waits for the push, and a commit that is too late is named",
  async (t) => {
    const late = new SteppedPullRequest();
    late.open();
    late.ask({ runId: "run_2" });
    t.same(told(late.seen(mergedAt(T0 + 5_000))), [], "nobody knows yet what is pushed");
    t.match(told(late.ask({ runId: "run_3" })), [{ refused: /is merged/ }]);
    const pushed = late.pushed(head("b"), "run_2");
    t.match(told(pushed), [{ url: null, refused: /is now merged/ }]);
    t.same(notes(pushed), [
      `The commit ${head("b")} was pushed to ${branch} after ${url} was merged, so the merge does not contain it.`,
    ]);
    t.match([late.actor.value, findBranch(late)], ["merged", { pullRequestId: null, head: null }]);
    t.notOk(late.pushed(head("b"), "run_2").taken, "once");

    const merged = new SteppedPullRequest();
    merged.open();
    merged.ask({ runId: "run_2" });
    merged.seen({ ...mergedAt(T0 + 5_000), head: head("b") });
    const included = merged.pushed(head("b"), "run_2");
    t.match(told(included), [{ url, refused: null }], "what was merged has it");
    t.same(notes(included), []);

    for (const problem of ["conflict", "lost"]) {
      const failed = new SteppedPullRequest();
      failed.open();
      failed.ask();
      failed.seen(mergedAt(T0 + 5_000));
      const over = failed.notPushed(problem);
      t.match(told(over), [{ refused: /is now merged/ }]);
      t.same([notes(over), failed.actor.value], [[], "merged"]);
    }
  },
);

t.test(
  "a token that is not made for now is waited for: the task says until when, and hooks are not asked again",
  async (t) => {
    const pr = new SteppedPullRequest();
    const permit = (taken: TurnTaken) =>
      taken.sent.flatMap(({ message }) =>
        message.type === "pull-request.allowed" && "push" in message ? [message] : [],
      );
    let [allowed] = permit(pr.answerGate(pr.ask({ changed: [".github/workflows/ci.yml"] })));
    const untilMs = pr.actor.now + 3_600_000;
    const lines: string[] = [];
    for (let count = 0; count < 20; count += 1) {
      pr.take({ type: "pull-request.limited", push: allowed?.push, untilMs });
      const waiting = pr.notPushed("untokened", "code.example answered with 403.");
      t.same([waiting.wakes, waiting.questions], [[{ name: "push", dueMs: untilMs }], []]);
      lines.push(...notes(waiting));
      const [next] = permit(pr.woken("push"));
      t.match(next, { workflows: true });
      t.not(next?.push, allowed?.push);
      allowed = next;
    }
    t.match(lines, [/limits requests .* is retried after 2026-01-01T01:00:00.000Z\./]);
    t.equal(lines.length, 1, "it is said once");
    t.match([pr.actor.value, pr.row], ["pushing", { waitsUntil: "2026-01-01T01:00:00.000Z" }]);
    t.notOk(pr.take({ type: "pull-request.limited", push: "push_0", untilMs }).taken, "an earlier push's limit");
    pr.pushed();
    t.match([pr.actor.value, pr.row], ["opening", { waitsUntil: null }]);
  },
);

t.test("a push without a token is retried once where there is no limit, and a limit ends with the run", async (t) => {
  const other = new SteppedPullRequest();
  other.answerGate(other.ask());
  t.equal(other.notPushed("untokened").questions.length, 1);
  const lost = new SteppedPullRequest();
  const [allowed] = lost
    .answerGate(lost.ask())
    .sent.flatMap(({ message }) => ("push" in message ? [message.push] : []));
  lost.take({ type: "pull-request.limited", push: allowed, untilMs: 1 });
  lost.notPushed("untokened");
  const over = lost.notPushed("lost");
  t.match([lost.actor.value, lost.row], ["failed", { waitsUntil: null }]);
  t.same(over.cancelledWakes, ["push"]);
  const wished = new SteppedPullRequest();
  const asked = wished.answerGate(wished.ask({ wish: "w1" })).sent;
  const [push] = asked.flatMap(({ message }) => ("push" in message ? [message.push] : []));
  wished.take({ type: "pull-request.limited", push, untilMs: 1 });
  t.equal(wished.notPushed("untokened").questions.length, 1, "an agent is not kept waiting");
});

t.test("closed while a runner pushes, its branch is gone on with from what was pushed", async (t) => {
  const pr = new SteppedPullRequest();
  pr.open();
  pr.ask({ runId: "run_2" });
  t.same(told(pr.seen(closedAt(T0 + 5_000))), []);
  t.match(told(pr.pushed(head("b"), "run_2")), [{ refused: /is now closed/ }]);
  t.match([pr.actor.value, findBranch(pr)], ["closed", { pullRequestId: null, head: head("b"), branch }]);
});

t.test("a run that ends while its agent's wish waits for a limit is asked for once that is opened", async (t) => {
  const begin = () => {
    const pr = new SteppedPullRequest();
    pr.answerGate(pr.ask({ wish: "w1" }));
    const untilMs = pr.actor.now + 90_000;
    const limited = pr.answer(pr.pushed(), { problem: "limited", untilMs, why: "no more" });
    t.match(told(limited), [{ wish: "w1", url: null, refused: null }]);
    t.match([told(pr.ask({ changed: ["a.ts", "b.ts"] })), pr.actor.value], [[], "opening"]);
    return pr;
  };
  const isAsked = ({ sent }: TurnTaken) =>
    sent.flatMap(({ message }) => (message.type === "pull-request.ask" ? message : []));
  for (const answer of [
    { problem: null, pullRequest: toPicture() },
    { problem: "refused", why: "no" },
  ]) {
    const pr = begin();
    const [again] = isAsked(pr.answer(pr.woken("open"), answer));
    const vetted = pr.take(again ?? {});
    t.match(vetted.questions, [{ name: "pull-request.opening" }], "with what it changed since");
    t.ok(pr.answerGate(vetted).sent.some(({ message }) => message.type === "pull-request.allowed"));
    t.same(isAsked(pr.pushed(head("b"))), [], "once");
    t.equal(pr.actor.value, answer.problem === null ? "open" : "opening");
  }
  const lost = begin();
  lost.notPushed("lost");
  t.same(isAsked(lost.answer(lost.woken("open"), { problem: null, pullRequest: toPicture() })), [], "its run is over");
  t.equal(lost.actor.value, "open");
});

t.test(
  "what a push conflicts with is where the next run begins: it may be a push of which nobody could tell",
  async (t) => {
    const pr = new SteppedPullRequest();
    pr.answerGate(pr.ask());
    pr.notPushed("lost");
    t.equal(findBranch(pr)?.head, null, "whether it was pushed is not known");
    pr.answerGate(pr.ask());
    pr.answerGate(pr.notPushed("conflict"));
    const theirs = head("c");
    pr.notPushed("conflict", "It conflicts.", theirs);
    t.match([pr.actor.value, findBranch(pr)], ["failed", { branch, head: theirs }]);
  },
);
