import t from "tap";
import { OutsideSetting, type TaskView } from "./outside-setting.js";
import { listRuns, SHORT_LEASE, until } from "./work-setting.js";

const PUSH = /^POST .*git-receive-pack$/;
const OPEN = /^POST .*\/pulls$/;

t.test("service and runner killed while they work with the outside do nothing twice, and lose nothing", async (t) => {
  const outside = await OutsideSetting.open(t);
  const { setting, tracker, codeHost, integration } = outside;
  const poll = `/api/integrations/${integration.id}/poll`;
  const tell = (title: string, kind: "issue" | "other" = "issue") =>
    tracker.tell(integration.deliveriesUrl, { kind, title });
  /**
   * Delays the code host's answer to the next request that matches `on`, until the test calls the returned function.
   */
  const holdThere = (on: RegExp) => {
    let letGo = (): void => undefined;
    const after = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    codeHost.onceFaults.push({ on, fault: { after } });
    return letGo;
  };
  const isOpened = ({ state, pullRequest }: TaskView) => state === "done" && pullRequest?.state === "open";
  const runner = await outside.runner(t);
  const others = ["a", "b", "c", "d", "e"];
  t.ok(await tell("first"));
  const first = await outside.waiting("first");

  await t.test(
    "calls that wait for a person and that run; deliveries that were taken, and that are worked; a poll",
    async (t) => {
      for (const path of ["/comments", "/items"]) tracker.hold(path);
      const [called, polled] = [tracker.nextTo("/comments"), tracker.nextTo("/items")];
      t.ok(await tell("second"));
      await called;
      tracker.hold("/issues");
      const asked = tracker.nextTo("/issues");
      t.ok(await tell("third"));
      await outside.post(`${poll}/now`);
      await Promise.all([asked, polled]);
      const sent = others.map((title) => tell(title, "other"));
      await Promise.any(sent.map(async (each) => (await each) || Promise.reject(new Error("it was not taken"))));
      await setting.restart();
      tracker.letGo("/items");
      t.ok((await Promise.all(sent)).includes(true));
      for (const title of others) t.ok(await tell(title, "other"), "taken, or known as a repetition");
    },
  );

  await t.test(
    "an answered call and a push, told to nobody; an opened pull request and a poll, without answers",
    async (t) => {
      const called = tracker.nextTo("/comments");
      const [letPush, second] = [holdThere(PUSH), await outside.waiting("second")];
      t.same(await outside.calls(second.runId), ["comment failed outcome-unknown", "leave waiting"]);
      await outside.approve(second);
      await codeHost.asking(PUSH);
      tracker.letGo("/issues");
      await called;
      await until(async () => (await outside.read(poll)).state === "resting");
      tracker.hold("/items");
      const polled = tracker.nextTo("/items");
      await outside.post(`${poll}/now`);
      codeHost.onceFaults.push({ on: OPEN, fault: "lose" });
      await outside.approve(first);
      await codeHost.asking(OPEN);
      await polled;
      runner.signal("SIGSTOP");
      tracker.letGo("/comments");
      const { runId } = await outside.task("third");
      await until(async () => (await outside.calls(runId)).includes("comment done"));
      tracker.letGo("/items");
      setting.settings.LEASE_SECONDS = String(SHORT_LEASE);
      await setting.restart(() => {
        letPush();
        runner.signal("SIGCONT");
      });
      for (const title of ["first", "second"]) await outside.task(title, isOpened);
      t.equal(codeHost.asked.filter((request) => OPEN.test(request)).length, 2, "it is found, not opened again");
      t.same(await outside.steps(first.runId), ["comment: done", "leave: done"]);
      t.match(await outside.steps(second.runId), [/^comment: .*not known whether it happened/i, "leave: done"]);
    },
  );

  await t.test("a runner that pushes", async (t) => {
    const third = await outside.waiting("third");
    t.same(await outside.steps(third.runId), ["comment: done"], "its agent was told once");
    const letGo = holdThere(PUSH);
    const pushes = codeHost.asked.filter((request) => PUSH.test(request)).length;
    await outside.approve(third);
    await codeHost.asking(PUSH, pushes + 1);
    await runner.end("SIGKILL");
    await outside.runner(t);
    letGo();
    const { id } = await outside.task("third", ({ asks }) => /lost before it pushed/.test(asks ?? ""));
    await outside.post(`/api/tasks/${id}/retry`);
    await outside.approve(await outside.waiting("third", third.runId));
    await outside.task("third", isOpened);
  });

  await t.test("in the end each was raised once, called at most once and opened once", async (t) => {
    const deliveries = await outside.list<{ id: string; source: string; state: string }>(
      `/api/integrations/${integration.id}/deliveries?limit=200`,
    );
    const polled = deliveries.filter(({ source }) => source === "poll");
    t.ok(polled.length >= 2, `${polled.length} polls`);
    const items = polled.map((_, n) => `item ${n}`);
    t.same((await outside.titles()).toSorted(), ["first", "second", "third", ...others, ...items].toSorted());
    t.equal(deliveries.length, 3 + others.length + items.length);
    t.same([...new Set(deliveries.map(({ state }) => state))], ["done"]);
    t.equal(new Set(tracker.comments).size, tracker.comments.length, "no call arrived twice");
    const { pulls } = codeHost.work;
    t.equal(pulls.length, 3);
    for (const { head, repository } of pulls) {
      t.equal(await repository.git("rev-list", "--count", `main..${head}`), "1", "pushed once");
    }
    t.equal(new Set(pulls.map(({ head }) => head)).size, 3);
    const runs = await Promise.all(
      ["first", "second", "third"].map(async (title) => listRuns(setting, (await outside.task(title)).id)),
    );
    t.same(
      runs.map((all) => all.length),
      [1, 1, 2],
    );
  });
});
