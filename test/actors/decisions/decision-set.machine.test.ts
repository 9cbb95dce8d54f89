import t from "tap";
import { parseDraftedDecisions } from "../../../actors/decisions/decision.js";
import { decisions, standingDecisions } from "../../../actors/decisions/decision.table.js";
import { decisionSetActor } from "../../../actors/decisions/decision-set.machine.js";
import {
  type DiscardDecisions,
  type DraftDecisions,
  decisionSetRef,
  type MergeDecisions,
} from "../../../actors/decisions/decision-set.messages.js";
import type { TaskRow } from "../../../actors/tasks/task.js";
import { tasks } from "../../../actors/tasks/task.table.js";
import { memoryRows, type Stepping, stepByHand } from "../../support/turn.js";

const workspaceId = "ws_1";
const taskId = "task_1";
const decision = {
  kind: "trade-off",
  title: "Poll, do not push",
  why: "The host offers no webhook.",
  alternatives: ["A socket"],
  paths: ["src/poll.ts"],
  steps: [3],
};

const draft = (...titles: string[]): DraftDecisions => ({
  type: "decisions.draft",
  runId: "run_1",
  decisions: titles.map((title) => ({ ...decision, title })),
});
const merged: MergeDecisions = {
  type: "decisions.merged",
  repository: "acme/app",
  url: "https://code.example.com/acme/app/pull/1",
  atMs: 1_000,
};
const closed: DiscardDecisions = { type: "decisions.closed" };

function toSet(isTaskThere = true): Stepping {
  const rows = memoryRows();
  if (isTaskThere) rows.put(tasks.key(workspaceId, taskId), { id: taskId, teamId: "team_1" } as TaskRow);
  return stepByHand(decisionSetActor, decisionSetRef(workspaceId, taskId), { rows });
}

const titles = ({ rows }: Stepping) => decisions.list(rows, workspaceId, [taskId]).map(({ title }) => title);
const listed = ({ rows }: Stepping) => standingDecisions.list(rows, workspaceId).length;

t.test("in every state, each message does what the reference's table says", async (t) => {
  const messages = { draft: draft("new"), merged, closed };
  const table = {
    none: { draft: "proposed", merged: "none", closed: "none" },
    proposed: { draft: "proposed", merged: "stands", closed: "discarded" },
    discarded: { draft: "proposed", merged: "discarded", closed: "discarded" },
    stands: { draft: "stands", merged: "stands", closed: "stands" },
  } as const;
  const before = {
    none: [],
    proposed: [draft("old")],
    discarded: [draft("old"), closed],
    stands: [draft("old"), merged],
  };
  for (const [state, row] of Object.entries(table)) {
    for (const [name, next] of Object.entries(row)) {
      const set = toSet();
      for (const message of before[state as keyof typeof before]) set.take(message);
      t.equal(set.value, state);
      t.equal(set.take(messages[name as keyof typeof messages]).taken, true);
      t.equal(set.value, next, `${state}, ${name}`);
      const isNew = name === "draft" && state !== "stands";
      t.same(titles(set), isNew ? ["new"] : state === "none" ? [] : ["old"], "a later drafting replaces the set");
      t.equal(listed(set), next === "stands" ? 1 : 0, "lists find those that stand");
    }
  }
});

t.test("no set is stored for a missing task, and an actor without a draft ends", async (t) => {
  const gone = toSet(false);
  t.equal(gone.take(draft("one")).stopped, true);
  t.same([gone.value, titles(gone)], ["none", []]);
  t.equal(toSet().take(merged).stopped, true);
});

t.test("after any messages in any order, the rows agree with the machine's state", async (t) => {
  const messages = [draft("one"), merged, closed];
  const orders = Array.from({ length: 4 }).reduce<(typeof messages)[]>(
    (shorter) => shorter.flatMap((order) => messages.map((message) => [...order, message])),
    [[]],
  );
  t.equal(orders.length, 81);
  for (const order of orders) {
    const set = toSet();
    for (const message of order) {
      set.take(message);
      const rows = titles(set).length === 0 ? ["none"] : listed(set) > 0 ? ["stands"] : ["proposed", "discarded"];
      if (!rows.includes(String(set.value))) t.fail(`${order.map(({ type }) => type)}: ${set.value}, rows ${rows}`);
    }
  }
});

t.test("the set of a deleted task stays unchanged", async (t) => {
  for (const [last, state] of [
    [[], "proposed"],
    [[closed], "discarded"],
    [[merged], "stands"],
  ] as const) {
    const set = toSet();
    for (const message of [draft("old"), ...last]) set.take(message);
    set.rows.remove(tasks.key(workspaceId, taskId));
    t.equal(set.take(draft("new")).taken, true);
    t.same([set.value, titles(set)], [state, ["old"]]);
  }
});

t.test("a standing set is found by the time and the repository of its merge", async (t) => {
  const set = toSet();
  set.take(draft("one", "two"));
  set.take(merged);
  const [first] = decisions.list(set.rows, workspaceId, [taskId]);
  t.match(first, { taskId, teamId: "team_1", runId: "run_1", disputes: { length: 0 }, title: "one" });
  for (const found of [
    standingDecisions.list(set.rows, workspaceId, [1_000]),
    standingDecisions.all(set.rows, workspaceId, { repository: "acme/app" }, { before: [1_001] }).reverse(),
  ]) {
    t.equal(found.length, 2);
    t.equal(found[0]?.id, first?.id);
    t.match(found[0], { taskId, repository: "acme/app", paths: ["src/poll.ts"] });
  }
});

t.test("a drafted decision beyond a limit is dropped, one at the limit is stored", async (t) => {
  const many = (count: number, of: unknown) => Array.from({ length: count }, () => of);
  const fits = [
    { title: "t".repeat(120) },
    { why: "w".repeat(2_000) },
    { alternatives: many(5, "a".repeat(300)) },
    { alternatives: [] },
    { paths: many(20, "a.ts") },
    { steps: many(20, 0) },
    ...["trade-off", "assumption", "limitation", "rejected-approach", "deviation"].map((kind) => ({ kind })),
  ];
  const breaks = [
    { title: "t".repeat(121) },
    { title: "" },
    { why: "w".repeat(2_001) },
    { alternatives: many(6, "a") },
    { alternatives: ["a".repeat(301)] },
    { paths: [] },
    { paths: many(21, "a.ts") },
    { steps: [] },
    { steps: many(21, 1) },
    { steps: [1.5] },
    { kind: "choice" },
  ];
  const kept = parseDraftedDecisions([...fits, ...breaks].map((change) => ({ ...decision, ...change })));
  t.same(
    kept,
    fits.map((change) => ({ ...decision, ...change })),
  );
  t.same(parseDraftedDecisions([null, 1, "text", [], {}]), []);
  t.equal(parseDraftedDecisions(many(101, decision)).length, 100);
});
