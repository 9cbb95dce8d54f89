import t from "tap";
import { actionRunActor } from "../../../actors/integration-work/actions/action-run.machine.js";
import { actionRunRef } from "../../../actors/integration-work/actions/action-run.messages.js";
import { actionRuns } from "../../../actors/integration-work/actions/action-run.table.js";
import { scheduleActor } from "../../../actors/integration-work/schedules/schedule.machine.js";
import { scheduleRef } from "../../../actors/integration-work/schedules/schedule.messages.js";
import { expr } from "../../support/integration.js";
import { hostThat, INTEGRATION, WORKSPACE } from "../../support/integration-rows.js";
import { integrationWorld } from "../../support/integration-world.js";

const MINUTE_MS = 60_000;
const url = "https://api.example.com/chat";
const definition = {
  actions: {
    tell: { request: { url } },
    beat: { request: { url, body: { n: 1 } }, schedule: { everyMinutes: 10 } },
    look: { request: { url, method: "GET" }, schedule: { everyMinutes: 10 } },
  },
  on: [{ event: "task.opened", action: "tell", to: { to: expr("task.line") } }],
};
const task = {
  id: "task_1",
  title: "T",
  url: "",
  line: "dev",
  station: "Work",
  stationKey: "work",
  marks: {},
  repositories: [],
  pullRequest: null,
};

/**
 * Starts a simulated service on a store that contains the integration. The integration's host answers immediately. With
 * `fails`, the host answers the first request of each message with 503.
 */
async function open(fails: boolean) {
  const seen = new Set<string>();
  const { sent, send } = hostThat(({ headers }) => {
    const id = headers["service-message-id"] ?? "";
    const isFirst = fails && !seen.has(id);
    seen.add(id);
    return { status: isFirst ? 503 : 200 };
  });
  const world = await integrationWorld(t, { definition, actors: [actionRunActor, scheduleActor], send });
  const rows = () => actionRuns.list(world.harness.durable, WORKSPACE, [INTEGRATION]);
  const idsSent = () => sent.map(({ headers }) => headers["service-message-id"] ?? "");
  return { ...world, rows, sent, idsSent };
}

type World = Awaited<ReturnType<typeof open>>;

/**
 * Starts a new world for each kill: before and after the first commit, before and after the second commit, and so on.
 * Stops when the work ends before the commit of the kill. Returns the worlds with a kill.
 */
async function killEverywhere(fails: boolean, begin: (world: World) => void, lives: (world: World) => Promise<void>) {
  const worlds: World[] = [];
  for (let commit = 1; ; commit++) {
    for (const when of ["before", "after"] as const) {
      const world = await open(fails);
      const { harness, start } = world;
      const at = harness.batches.length + commit;
      harness.killAt = { commit: at, when };
      begin(world);
      await lives(world);
      const isKilled = harness.batches.length >= at;
      harness.killAt = null;
      if (!isKilled) return worlds;
      harness.crash();
      await start();
      begin(world);
      await lives(world);
      worlds.push(world);
    }
  }
}

t.test("a binding killed at any commit is done at least once, in one run and as one message", async (t) => {
  const to = actionRunRef(WORKSPACE, "act_1");
  const message = { integrationId: INTEGRATION, index: 0, event: "task.opened", task, ask: null } as const;
  const worlds = await killEverywhere(
    true,
    ({ harness }) => void harness.runtime.ask(to, { type: "action.bound", ...message }).catch(() => undefined),
    ({ harness }) => harness.advance(MINUTE_MS),
  );
  t.ok(worlds.length >= 6, `${worlds.length} kills`);
  for (const { rows, idsSent, pending } of worlds) {
    t.match(rows(), [{ id: "act_1", state: "done" }]);
    t.same([...new Set(idsSent())], ["msg_1"]);
    t.equal(pending(), 0);
  }
});

t.test("a schedule killed at any commit goes on, and repeats after a kill only what a GET asks", async (t) => {
  for (const [action, again] of [
    ["beat", false],
    ["look", true],
  ] as const) {
    const to = scheduleRef({ workspaceId: WORKSPACE, integrationId: INTEGRATION, action });
    const worlds = await killEverywhere(
      false,
      ({ harness }) => void harness.runtime.ask(to, { type: "schedule.check" }).catch(() => undefined),
      ({ harness }) => harness.advance(11 * MINUTE_MS),
    );
    t.ok(worlds.length >= 6, `${worlds.length} kills`);
    let repeated = 0;
    for (const { harness, rows, idsSent, pending } of worlds) {
      await harness.advance(11 * MINUTE_MS);
      t.ok(rows().length >= 2, "it goes on");
      for (const { state, attempts } of rows())
        t.ok(state === "done" || (!again && attempts[0]?.code === "interrupted"), state);
      repeated += idsSent().length - new Set(idsSent()).size;
      t.equal(pending(), 0);
    }
    t.equal(repeated > 0, again, `${action} was ${again ? "" : "never "}made again`);
  }
});
