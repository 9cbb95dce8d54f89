import t from "tap";
import { ManualClock } from "../../support/manual-clock.js";
import { openWorkplace, type Workplace } from "../../support/workplace.js";

const settings = { LEASE_SECONDS: "30" };

const outcomes = async (place: Workplace, taskId: string) =>
  (await place.runs(taskId)).map(({ state, outcome }) => outcome ?? state);

t.test("the end of a lease abandons the run, and another attempt goes to another runner", async (t) => {
  const clock = new ManualClock();
  const place = await openWorkplace(t, { clock, settings });
  const taskId = await place.open();
  const silent = await place.runner({ name: "silent" });
  const { runnerId } = await silent.frame("welcome");
  const lost = await silent.job();
  silent.start(lost);
  await silent.taken(1);
  const other = await place.runner({ name: "other", instance: "another-instance" });
  clock.advance(15_000);
  await other.beat();
  clock.advance(14_999);
  await other.beat();
  t.same(await outcomes(place, taskId), ["running"]);
  clock.advance(1);
  const again = await other.job();
  t.not(again.runId, lost.runId);
  t.same(await outcomes(place, taskId), ["claimed", "abandoned"]);

  silent.step(lost, 0);
  t.match(await silent.frame("error"), { message: "the lease expired, or another connection took over" });
  t.equal((await silent.closed()).code, 4503, "its socket still stands, but it has to say hello");
  const back = await place.runner({ name: "silent", runnerId, claims: [{ runId: lost.runId, fence: lost.fence }] });
  t.match((await back.frame("welcome")).claims, [{ runId: lost.runId, verdict: "drop" }]);

  await other.handOver(again, "review");
  await place.when(`task/${taskId}`, async () => (await place.task(taskId)).station === "review");
  t.match((await outcomes(place, taskId)).slice(-2), ["completed", "abandoned"]);
});

t.test("beats keep a claim for as long as they come; a short absence costs nothing", async (t) => {
  const clock = new ManualClock();
  const place = await openWorkplace(t, { clock, settings });
  const taskId = await place.open();
  const peer = await place.runner();
  const { runnerId } = await peer.frame("welcome");
  const claim = await peer.job();
  peer.start(claim);
  for (let beat = 0; beat < 20; beat++) {
    clock.advance(10_000);
    await peer.beat();
  }
  peer.cut();
  clock.advance(29_000);
  const held = { runId: claim.runId, fence: claim.fence };
  const back = await place.runner({ runnerId, received: 1, claims: [held] });
  t.match(await back.frame("welcome"), { runnerId, received: 1, claims: [{ verdict: "keep" }] });
  clock.advance(29_000);
  await back.beat();
  t.same(await outcomes(place, taskId), ["running"]);
});

t.test("a run that is lost again and again is brought to a person in the end", async (t) => {
  const place = await openWorkplace(t);
  const taskId = await place.open();
  const first = await place.runner();
  const { runnerId } = await first.frame("welcome");
  await first.job();
  for (let start = 1; start < 5; start++) {
    const next = await place.runner({ runnerId, instance: `instance-number-${start}` });
    await next.job();
  }
  await place.runner({ runnerId, instance: "the-last-instance" });
  await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === "inbox");
  t.match(await place.task(taskId), { asks: "5 runs in a row lost their runner.", assignee: /^usr_/ });
  t.same(
    await outcomes(place, taskId),
    Array.from({ length: 5 }, () => "abandoned"),
  );
});
