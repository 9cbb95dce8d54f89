import t from "tap";
import { hook, hookScene, ok } from "../../support/hook-scene.js";
import { listItems } from "../../support/resources.js";

interface Verdict {
  readonly hook: string;
  readonly firing: { readonly id: string; readonly state: string } | null;
  readonly notFired: { readonly condition: string; readonly wanted: unknown; readonly saw: unknown } | null;
}

t.test(
  "for an event each hook has its hook occurrence, or the first condition that failed and its values",
  async (t) => {
    const scene = await hookScene(t, ok);
    const { addHook, openTask, receiver, owner, teamId, settled } = scene;
    const add = (key: string, more: Record<string, unknown>) => addHook(hook(receiver.url, { key, ...more }));
    await add("fires", { match: { lines: ["dev"] } });
    await add("on-moves", { on: "task.moved" });
    await add("other-station", { match: { stations: ["review"] } });
    await add("other-repository", { match: { repositories: ["acme/other"] }, when: "false" });
    await add("when-false", { when: "task.title == vars.wanted", vars: { wanted: "Another" } });
    await add("when-fails", { when: 'task.marks["size"] == "l"' });
    const taskId = await openTask();
    const { id: firing } = await settled("delivered");
    await add("later", {});

    const events = listItems(await owner.request("GET", `/api/teams/${teamId}/events?event=task.opened`));
    t.match(events, [{ on: "task.opened", taskId, runId: null, causes: { length: 0 }, event: { at: /^\d{4}-/ } }]);
    t.equal(events.length, 1);
    const path = `/api/teams/${teamId}/events/${events[0]?.occurrence}/hooks`;
    const asked = await owner.request("GET", path);
    t.equal(asked.status, 200, asked.text);
    const hooks = asked.body?.hooks as readonly Verdict[];
    const findVerdict = (key: string) => hooks.find((verdict) => verdict.hook === key);
    t.same(
      hooks.map((verdict) => verdict.hook),
      [...hooks.map((verdict) => verdict.hook)].sort(),
    );
    t.match(findVerdict("fires"), { firing: { id: firing, state: "delivered", code: null }, notFired: null });
    const wanted: Record<string, unknown> = {
      "on-moves": { condition: "on", wanted: "task.moved", saw: "task.opened" },
      "other-station": {
        condition: "stations",
        wanted: ["review"],
        saw: ["work"],
        expression: 'task.stationKey in ["review"]',
      },
      "other-repository": { condition: "repositories", wanted: ["acme/other"], saw: [] },
      "when-false": {
        condition: "when",
        saw: { task: { title: "Do it" }, run: null, vars: { wanted: "Another" } },
        error: null,
      },
      "when-fails": { condition: "when", saw: { task: { marks: {} } }, error: /./ },
      later: { condition: "written" },
    };
    for (const [key, notFired] of Object.entries(wanted)) {
      t.equal(findVerdict(key)?.firing, null, key);
      t.match(findVerdict(key)?.notFired, notFired as object, key);
    }

    const page = await owner.request("GET", `${path}?after=on-moves&limit=2`);
    t.same(
      ((page.body?.hooks ?? []) as readonly Verdict[]).map((verdict) => verdict.hook),
      ["other-repository", "other-station"],
    );
    t.equal(page.body?.next, "other-station", "more come after it");
    t.equal(asked.body?.next, null, "these were all");
  },
);

t.test("before events are among the events too, and a task's alone can be listed, a page at a time", async (t) => {
  const { openTask, owner, teamId } = await hookScene(t, ok);
  const first = await openTask();
  const second = await openTask();
  for (const to of ["review", "work", "review"]) await owner.request("POST", `/api/tasks/${first}/move`, { to });
  const list = async (query: string) => listItems(await owner.request("GET", `/api/teams/${teamId}/events?${query}`));
  const moves = await list(`task=${first}&event=task.moved`);
  t.match(moves, [{ event: { to: "review" } }, { event: { to: "work" } }, { event: { to: "review" } }]);
  const after = await list(`task=${first}&event=task.moved&limit=1&before=${moves[0]?.occurrence}`);
  t.same(after, [moves[1]]);
  t.match(await list(`task=${second}`), [{ on: "task.opened" }]);
  t.same(await list("task=task_none"), []);
  t.equal((await owner.request("GET", `/api/teams/${teamId}/events?event=lunch`)).status, 400);
  t.equal((await owner.request("GET", `/api/teams/${teamId}/events/occ_none/hooks`)).status, 404);
});
