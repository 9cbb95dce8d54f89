import t from "tap";
import { toBindingValues } from "../../../../actors/integration-work/actions/binding-values.js";
import { bindingSubscriber, listBindings } from "../../../../actors/integration-work/actions/bindings.js";
import { tasks } from "../../../../actors/tasks/task.table.js";
import { address } from "../../../../runtime/cells/address.js";
import { expr } from "../../../support/integration.js";
import { INTEGRATION, integrationRows, put, TEAM, WORKSPACE } from "../../../support/integration-rows.js";
import { withTurn } from "../../../support/turn.js";
import { VersionedReading } from "../../../support/versioned-reading.js";

const events = ["task.opened", "task.moved", "task.asked", "task.finished", "task.closed"] as const;
const definition = {
  actions: { tell: { request: { url: "https://api.example.com/chat" } } },
  on: [...events, "task.opened"].map((event) => ({ event, action: "tell" })),
};
const task = {
  id: "task_1",
  title: "T",
  url: "",
  line: "dev",
  station: "Work",
  stationKey: "work",
  marks: { thread: "7" },
  repositories: [],
  pullRequest: null,
};
type Heard = Parameters<typeof bindingSubscriber.handle>[0];
const about = { occurrence: "occ_01", workspaceId: WORKSPACE, teamId: TEAM, lineId: "line_1", task, causes: [] };
const toFact = (on: (typeof events)[number]): Heard => {
  const at = "2026-01-01T00:00:00.000Z";
  if (on === "task.opened" || on === "task.moved") {
    return { name: on, work: { ...about, on, stationId: "sta_1", run: null, event: { at } } };
  }
  const ask = on === "task.asked" ? { body: "May it?", isApproval: true } : null;
  return { name: on, happening: { ...about, on, ask, at } };
};

t.test("each thing that happens to a task reaches the bindings on it, of its own team", async (t) => {
  const rows = integrationRows(definition);
  put(rows, "integration", "int_other", { teamId: "team_2", address: "other/tracker", fields: { on: definition.on } });
  const sentOn = (on: (typeof events)[number]) =>
    withTurn(address(WORKSPACE, "subscriber", "1"), (turn) => bindingSubscriber.handle(toFact(on), turn), { rows })
      .sent;
  t.same(bindingSubscriber.facts, events);
  for (const [index, on] of events.entries()) {
    const [sent, second, ...more] = sentOn(on);
    t.match(sent, {
      to: { kind: "action-run", id: `act_01-${INTEGRATION}-${index}` },
      message: { type: "action.bound", integrationId: INTEGRATION, index, event: on, task: { id: "task_1" } },
    });
    t.match(
      second?.to.id,
      on === "task.opened" ? `act_01-${INTEGRATION}-5` : undefined,
      "each binding is a run of its own",
    );
    t.equal(more.length, 0);
  }
  t.match(sentOn("task.asked")[0]?.message, { ask: { body: "May it?", isApproval: true } });
});

t.test("what no binding of the team is on is not heard", async (t) => {
  const only = { ...definition, on: [{ event: "task.moved", action: "tell" }] };
  const rows = integrationRows(only);
  put(rows, "integration", "int_other", { teamId: "team_2", address: "other/tracker", fields: { on: definition.on } });
  t.same(
    events.filter((on) => bindingSubscriber.hears?.(toFact(on), WORKSPACE, rows)),
    ["task.moved"],
  );
});

t.test("the channel of the route that led to a task is kept for the bindings of its integration", async (t) => {
  const rows = integrationRows(definition);
  const scope = { workspaceId: WORKSPACE, integrationId: INTEGRATION };
  const row = {
    id: "task_1",
    teamId: TEAM,
    lineId: "line_1",
    state: "queued",
    channels: { [INTEGRATION]: "C7", int_2: "C8" },
  };
  rows.put(tasks.key(WORKSPACE, "task_1"), row);
  const findValues = (to: Record<string, string>) =>
    toBindingValues(rows, scope, { to, request: undefined }, { task, ask: null });
  t.same(findValues({})?.target, { channel: "C7" });
  t.same(findValues({ thread: expr("task.marks.thread") })?.target, { channel: "C7", thread: "7" });
  t.same(findValues({ channel: expr("'mine'") })?.target, { channel: "mine" }, "a binding's own goes first");
  t.equal(findValues({ none: expr("task.marks.none") }), null);
});

t.test("the bindings of a team are held until the version of the configuration changes", async (t) => {
  const rows = integrationRows(definition);
  const reading = new VersionedReading(rows);
  const listEvents = (teamId = TEAM) => listBindings(reading, WORKSPACE, teamId).map(({ event }) => event);
  const toReads = () => reading.during(listEvents);
  t.same(listEvents(), [...events, "task.opened"]);
  t.equal(toReads(), 0);
  const fields = { on: [{ event: "task.moved" }] };
  put(rows, "integration", INTEGRATION, { teamId: TEAM, address: "core/tracker", fields });
  reading.version = null;
  t.same(listEvents(), ["task.moved"], "while configuration changes it is read");
  reading.version = 2;
  t.same(listEvents(), ["task.moved"]);
  t.equal(toReads(), 0);
  t.same(listEvents("team_2"), [], "another team has none of them");
});
