import t from "tap";
import type { Answering } from "../../support/hook-receiver.js";
import { hook, hookScene, ok } from "../../support/hook-scene.js";
import { ManualClock } from "../../support/manual-clock.js";
import { toProblem, toSlug } from "../../support/resources.js";
import { until } from "../../support/until.js";

/** Returns the id of the task in a request. */
const toTask = (text: string) => (JSON.parse(text) as { readonly task: { readonly id: string } }).task.id;

const HOUR_MS = 60 * 60 * 1_000;

t.test("failed hook occurrences of a period are sent again, 20 a second, each once", async (t) => {
  const clock = new ManualClock();
  let isDown = true;
  const answer: Answering = (response) => response.writeHead(isDown ? 404 : 200).end();
  const { addHook, openTask, receiver, owner, teamId, firings } = await hookScene(t, answer, { clock });
  await addHook(hook(receiver.url));
  await addHook(hook(receiver.url, { key: "other", on: "task.moved" }));
  const from = new Date(clock.now()).toISOString();
  const tasks: string[] = [];
  for (let n = 0; n < 25; n++) tasks.push(await openTask());
  await receiver.arrived(25);
  clock.advance(HOUR_MS);
  const to = new Date(clock.now()).toISOString();
  clock.advance(HOUR_MS);
  const late = await openTask();
  await receiver.arrived(26);
  const failed = async () => (await firings()).filter(({ state }) => state === "failed").length;
  await until("26 firings to fail", async () => (await failed()) === 26);

  const path = `/api/teams/${teamId}/hook-occurrences/resend`;
  const resend = (body: object) => owner.request("POST", path, body);
  const again = await resend({ from, to, hook: "tell" });
  t.equal(again.status, 202, again.text);
  t.same(again.body, { count: 25, isMore: false });
  clock.advance(0);
  await receiver.arrived(46);
  const inTime = receiver.requests.length;
  t.equal(inTime, 46, "20 at once, the rest waits");
  isDown = false;
  clock.advance(1_000);
  await receiver.arrived(51);
  const seen = receiver.requests.slice(26).map(({ text }) => toTask(text));
  t.same(seen.sort(), tasks.sort(), "each once, and nothing of another time");
  t.notOk(seen.includes(late));

  await until("46 firings to fail", async () => (await failed()) === 46);
  t.same((await resend({ from, to })).body, { count: 20, isMore: false }, "those that failed anew");
  clock.advance(1_000);
  await receiver.arrived(71);
  const delivered = async () => (await firings()).filter(({ state }) => state === "delivered").length;
  await until("25 deliveries", async () => (await delivered()) === 25);
  t.same((await resend({ from, to })).body, { count: 0, isMore: false }, "nothing is left");
  t.same((await resend({ from, to, hook: "other" })).body, { count: 0, isMore: false });

  t.match(toProblem(await resend({ from, to, hook: "nobody" })).errors, [{ path: "hook", message: /no hook nobody/ }]);
  t.match(toProblem(await resend({ from: to, to: from })).errors, [{ path: "to", message: /after from/ }]);
  t.match(toProblem(await resend({ from: "yesterday", to })).errors, [{ path: "from", message: /RFC 3339/ }]);
});

t.test("a test fires the hook's steps on a sample of each event, once, marked, and about no task", async (t) => {
  const { addHook, receiver, owner, settled, firings } = await hookScene(t, ok);
  const events = [
    ...["tool.using", "tool.used", "run.starting", "run.ended", "handover.giving", "pull-request.opening"],
    ...["pull-request.merged", "task.opened", "task.moved"],
  ];
  for (const [index, on] of events.entries()) {
    const steps = [{ name: "tell", request: { url: `${receiver.url}/?at=$${"{{ event.at }}"}` } }];
    const id = await addHook(hook(receiver.url, { key: `on-${index}`, on, steps, when: "false" }));
    const tested = await owner.request("POST", `/api/hooks/${id}/test`, {});
    t.equal(tested.status, 202, tested.text);
    t.match(tested.body, { test: true, taskId: null, on, hook: `on-${index}` });
    const request = (await receiver.arrived(index + 1))[index];
    t.match(request?.verified, { test: true, on, hook: `on-${index}`, event: { at: /^\d{4}-/ } }, on);
    t.equal(request?.headers["service-test"], "true");
  }
  await settled("delivered");
  t.ok((await firings()).length === events.length);
});

t.test("a test that fails is not tried again and leaves no message for a task that is not there", async (t) => {
  const { addHook, receiver, owner, settled } = await hookScene(t, (response) => response.writeHead(500).end("no"));
  const id = await addHook(hook(receiver.url));
  await owner.request("POST", `/api/hooks/${id}/test`, {});
  const firing = await settled("failed", "waiting");
  t.match(firing, { state: "failed", code: "server-error", attempts: [{ status: 500, body: "no" }] });
  const letters = await owner.request("GET", "/api/workspaces/acme/dead-letters");
  t.same(letters.body?.items, []);
  t.equal(toSlug(await owner.request("POST", "/api/hooks/hook_none/test", {})), "not-found");
});

t.test("whatever is sent again, and however often, keeps its link to the first", async (t) => {
  const { addHook, openTask, receiver, owner, teamId, settled } = await hookScene(t, ok);
  await addHook(hook(receiver.url));
  await openTask();
  const { id: first } = await settled("delivered");
  const path = `/api/teams/${teamId}/hook-occurrences`;
  let last = first;
  for (let time = 0; time < 3; time++) {
    const again = await owner.request("POST", `${path}/${last}/resend`, {});
    t.match(again.body, { resends: first });
    last = String(again.body?.id);
    t.match((await owner.request("GET", `${path}/${first}`)).body, { resends: null, resentAs: last });
  }
});
