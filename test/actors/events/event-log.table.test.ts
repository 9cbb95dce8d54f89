import t from "tap";
import type { WorkEvent } from "../../../actors/events/catalogue.js";
import { MAX_STORED_EVENTS } from "../../../actors/events/catalogue.js";
import { findEvent, listLatestEvents } from "../../../actors/events/event-log.queries.js";
import { recordEvent } from "../../../actors/events/event-log.table.js";
import { memoryRows } from "../../support/turn.js";

const event = (n: number, teamId = "team_1"): WorkEvent => ({
  on: "task.opened",
  workspaceId: "ws_1",
  teamId,
  lineId: "line_1",
  stationId: "sta_1",
  run: null,
  causes: [],
  occurrence: `occ_${String(n).padStart(6, "0")}`,
  task: { id: `task_${n % 3}` } as WorkEvent["task"],
  event: { at: "" },
});

const team = { workspaceId: "ws_1", teamId: "team_1" };

t.test("of each team the latest thousand events are kept", async (t) => {
  const rows = memoryRows();
  // More events than one read returns.
  const more = 150;
  for (let n = 0; n < MAX_STORED_EVENTS + more; n++) recordEvent(rows, event(n));
  recordEvent(rows, event(0, "team_2"));
  const all = listLatestEvents(rows, team, { limit: MAX_STORED_EVENTS * 2 });
  t.equal(all.length, MAX_STORED_EVENTS);
  t.same([all[0], all.at(-1)], [event(MAX_STORED_EVENTS + more - 1), event(more)]);
  t.equal(findEvent(rows, "ws_1", "team_1", event(more - 1).occurrence), undefined);
  t.same(findEvent(rows, "ws_1", "team_1", event(more).occurrence), event(more));
  t.same(findEvent(rows, "ws_1", "team_2", event(0).occurrence), event(0, "team_2"));
  const ofOne = listLatestEvents(rows, team, { task: "task_1", limit: 10 });
  t.same(
    ofOne.map(({ task }) => task.id),
    Array(10).fill("task_1"),
  );
});

const call = (n: number, more: object = {}, on: WorkEvent["on"] = "tool.used"): WorkEvent => ({
  ...event(n),
  on,
  event: { at: "2026-01-01T00:00:00.000Z", tool: "tracker.note", inputs: { text: "a" }, ...more },
});

t.test("events of calls push out each other, and no others", async (t) => {
  const rows = memoryRows();
  recordEvent(rows, event(0));
  for (let n = 1; n <= MAX_STORED_EVENTS + 5; n++)
    recordEvent(rows, call(n, {}, n % 2 === 0 ? "tool.used" : "tool.using"));
  recordEvent(rows, event(9_000));
  const all = listLatestEvents(rows, team, { limit: MAX_STORED_EVENTS * 3 });
  t.equal(all.length, MAX_STORED_EVENTS + 2);
  t.same([all[0], all.at(-1)], [event(9_000), event(0)]);
  t.same(all.at(-2), call(6), "the oldest that is left of calls");
  t.same(findEvent(rows, "ws_1", "team_1", call(6).occurrence), call(6));
  t.equal(findEvent(rows, "ws_1", "team_1", call(5).occurrence), undefined);
  const [newest] = listLatestEvents(rows, team, { limit: 1 });
  const next = listLatestEvents(rows, team, { limit: 2, before: newest?.occurrence });
  t.same(next, [call(1_005, {}, "tool.using"), call(1_004)], "page by page in one order");
  t.same(listLatestEvents(rows, team, { event: "task.opened", limit: 10 }), [event(9_000), event(0)]);
});

t.test("of a call's long inputs and output an event stores the beginnings, and says so", async (t) => {
  const rows = memoryRows();
  const stored = (more: object, n: number) => {
    const work = call(n, more);
    recordEvent(rows, work);
    return { work, event: findEvent(rows, "ws_1", "team_1", work.occurrence)?.event as Record<string, unknown> };
  };
  const short = stored({ inputs: { text: "x".repeat(4_000) }, output: "y".repeat(4_000), failed: false }, 1);
  t.same(short.event, short.work.event, "as it is");
  const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
  const long = { text: "\u{1F680}".repeat(9_000), id: 7, more: "\u0000".repeat(9_000) };
  const cut = stored({ inputs: long, output: { list: Array(9_000).fill("é") }, failed: true }, 2);
  t.match(cut.event, {
    tool: "tracker.note",
    failed: true,
    cut: ["inputs", "output"],
    inputs: { id: 7, text: /^\u{1F680}+$/u },
  });
  t.match(cut.event.output, /^\{"list":\["é","é"/);
  for (const name of ["inputs", "output"]) t.ok(bytes(cut.event[name]) <= 4_096, `${name} ${bytes(cut.event[name])}`);
  t.same(cut.work.event.inputs, long, "hooks get them whole");
  const control = stored({ inputs: { more: "\u0000".repeat(9_000) }, output: null }, 3);
  t.same(control.event.cut, ["inputs"]);
  t.ok(bytes(control.event.inputs) <= 4_096);
  const many = Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`input${n}`, "z".repeat(100)]));
  const few = stored({ inputs: many }, 4);
  t.ok(bytes(few.event.inputs) <= 4_096 && bytes(few.event.inputs) > 3_900);
});
