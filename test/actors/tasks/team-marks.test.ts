import t from "tap";
import type { PullRequestRow } from "../../../actors/pull-requests/pull-request.js";
import { pullRequests } from "../../../actors/pull-requests/pull-request.table.js";
import { resources } from "../../../actors/resources/resource.table.js";
import { ForeseenRaises } from "../../../actors/tasks/foreseen-raise.js";
import { taskActor } from "../../../actors/tasks/task.machine.js";
import { taskNotes, tasks } from "../../../actors/tasks/task.table.js";
import { teamMarksActor } from "../../../actors/tasks/team-marks.machine.js";
import { type RaiseTask, type TaskRaised, teamMarksRef } from "../../../actors/tasks/team-marks.messages.js";
import { taskMarks, taskRaises } from "../../../actors/tasks/team-marks.table.js";
import { type Address, address } from "../../../runtime/cells/address.js";
import { reference } from "../../../runtime/cells/reference.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { pullRequestRow } from "../../support/pull-request-rows.js";
import { connect } from "../../support/pull-request-scene.js";
import { memoryRows, type Stepping, stepByHand } from "../../support/turn.js";
import { lineId, putLine, teamId, workspaceId } from "../../support/work.js";

const deliveryRef = reference<TaskRaised>("delivery");
const issue = { kind: "issue", value: "acme/app#7" };
const opens = {
  lineId,
  station: null,
  title: "It breaks",
  description: "At night",
  url: "",
  assigneeEmail: null,
} as const;

function raising(key: string, more: Partial<RaiseTask> = {}): RaiseTask {
  return {
    type: "task.raise",
    deliveryId: "dlv_1",
    key,
    integration: { id: "int_1", key: "tracker" },
    say: "",
    opens,
    branch: null,
    marks: [issue],
    channel: null,
    attaches: null,
    causes: [],
    answerTo: deliveryRef(workspaceId, "dlv_1"),
    ...more,
  };
}

/**
 * Creates a team's marks actor and the team's tasks. The test delivers the messages between these actors one by one, in
 * the order in which one actor sent them to another.
 */
function createTeam() {
  const rows = memoryRows();
  putLine(rows);
  const steppings = new Map<string, Stepping>();
  const marks = teamMarksRef(workspaceId, teamId);
  const waiting: { readonly to: Address; readonly message: Message }[] = [];
  const answers: TaskRaised[] = [];
  const stepping = (to: Address): Stepping => {
    const type = to.kind === "task" ? taskActor : teamMarksActor;
    const found = steppings.get(to.id) ?? stepByHand(type, to, { rows, seed: steppings.size + 1 });
    steppings.set(to.id, found);
    return found;
  };
  const take = (to: Address, message: Message) => {
    const taken = stepping(to).take(message);
    for (const sent of taken.sent) {
      if (sent.to.kind === "delivery") answers.push(sent.message as TaskRaised);
      else if (sent.to.kind === "task" || sent.to.kind === "team-marks") waiting.push(sent);
    }
    return taken;
  };
  const deliverNext = () => {
    const next = waiting.shift();
    return next === undefined ? null : take(next.to, next.message);
  };
  return {
    rows,
    waiting,
    answers,
    stepping,
    raise: (message: RaiseTask) => take(marks, message),
    tell: (message: Message) => take(marks, message),
    command: (taskId: string, message: Message) => take(address(workspaceId, "task", taskId), message),
    deliverNext,
    deliver: () => {
      while (deliverNext() !== null);
    },
    tasks: () => tasks.list(rows, workspaceId),
    notes: (taskId: string) => taskNotes.list(rows, workspaceId, [taskId]).map(({ from, text }) => ({ from, text })),
    held: () => taskMarks.list(rows, workspaceId).map(({ kind, value, taskId }) => ({ kind, value, taskId })),
  };
}

const summary = ({ key, outcome, reason }: TaskRaised) => (reason === null ? [key, outcome] : [key, outcome, reason]);

t.test(
  "without an open task that has a mark, a task is opened by the integration, and nobody started it",
  async (t) => {
    const team = createTeam();
    team.raise(
      raising("a", { branch: "fix/7", channel: "C1", opens: { ...opens, assigneeEmail: " USR_2@example.com" } }),
    );
    t.same(team.answers, [], "answered once the task is there");
    team.deliver();
    const [task] = team.tasks();
    t.same(team.answers.map(summary), [["a", "opened"]]);
    t.equal(team.answers[0]?.taskId, task?.id);
    t.match(task, {
      title: "It breaks",
      station: "work",
      state: "queued",
      branch: "fix/7",
      assignee: "usr_2",
      marks: { issue: "acme/app#7" },
      channels: { int_1: "C1" },
      openedBy: { kind: "integration", integration: "tracker", integrationId: "int_1" },
    });
  },
);

t.test("a branch that is the head of an open pull request of the line is reviewed, not worked on", async (t) => {
  const team = createTeam();
  connect(team.rows);
  const put = (id: string, more: Partial<PullRequestRow>) => {
    pullRequests.insert(team.rows, workspaceId, pullRequestRow({ id, branch: "fix/7", ...more }));
  };
  put("pr_1", { number: 1, state: "closed" });
  put("pr_2", { number: 2, fork: true });
  put("pr_3", { number: 3, repository: "acme/other" });
  const other = { kind: "issue", value: "acme/app#8" };
  team.raise(raising("a", { branch: "fix/7", marks: [other] }));
  team.deliver();
  t.match(team.tasks()[0], { branch: "fix/7", reviews: undefined });
  put("pr_4", { number: 4, url: "https://code.example/acme/app/pull/4" });
  team.raise(raising("b", { branch: "refs/heads/fix/7" }));
  team.deliver();
  t.match(team.tasks()[1], {
    branch: undefined,
    reviews: { repository: "acme/app", ref: "refs/pull/4/head", url: "https://code.example/acme/app/pull/4" },
  });
});

t.test("what would become of what is raised is foreseen as it then comes to be", async (t) => {
  const team = createTeam();
  team.raise(raising("open"));
  team.raise(raising("over", { marks: [{ kind: "issue", value: "over" }] }));
  team.deliver();
  const [open, over] = team.tasks();
  team.command(over?.id ?? "", { type: "task.close", by: "usr_1" } as Message);
  team.deliver();
  const mark = (value: string, kind = "issue") => ({ kind, value });
  const raised: Partial<RaiseTask>[] = [
    { opens: null },
    { opens: null, marks: [mark("nobody's")] },
    { opens: null, marks: [mark("over")] },
    { opens: { ...opens, title: " ", assigneeEmail: "USR_2@example.com" }, marks: [mark("new"), mark("1", "thread")] },
    { opens: null, marks: [mark("1", "thread"), mark("2", "other")] },
    { opens, marks: [mark("2", "other")] },
    { opens, marks: [] },
    { opens, marks: [mark("")] },
    { marks: [mark("3", "thread"), issue] },
    { opens: null, marks: [mark("3", "thread")] },
  ];
  const foreseen = new ForeseenRaises(team.rows, { workspaceId, teamId });
  const told = raised.map((more, index) => foreseen.next(raising(`${index}`, more)));
  const first = team.answers.length;
  for (const [index, more] of raised.entries()) {
    team.raise(raising(`${index}`, more));
    team.deliver();
  }
  const came = team.answers.slice(first);
  t.same(
    told.map(({ outcome }) => outcome),
    came.map(({ outcome }) => outcome),
  );
  t.same(
    came.map(({ outcome }) => outcome),
    ["said", "unmatched", "unmatched", "opened", "said", "said", "opened", "opened", "said", "said"],
  );
  t.match([told[0]?.taskId, told[8]?.taskId, told[4]?.taskId], [open?.id, open?.id, null]);
  const opened = team.tasks().find(({ id }) => id === came[3]?.taskId);
  t.match(told[3]?.opens, { title: opened?.title, assignee: opened?.assignee });
  t.same(told[3]?.opens, { title: "Untitled", assignee: "usr_2" });
  t.same(told[7]?.marks, [], "what is no mark is left out");
});

t.test("two events at once about the same thing never open two tasks: the second is said to the first's", async (t) => {
  const team = createTeam();
  team.raise(raising("a"));
  team.raise(raising("b", { say: "still there" }));
  team.deliver();
  t.equal(team.tasks().length, 1);
  t.same(team.answers.map(summary), [
    ["a", "opened"],
    ["b", "said"],
  ]);
  t.same(team.notes(team.tasks()[0]?.id ?? ""), [{ from: "integration tracker", text: "still there" }]);
});

t.test("the event that opens a task adds no note to it: its title and description have the words", async (t) => {
  const team = createTeam();
  team.raise(raising("a", { say: "hello" }));
  team.deliver();
  t.same(team.notes(team.tasks()[0]?.id ?? ""), []);
  team.raise(raising("b", { say: "hello again" }));
  team.deliver();
  t.match(team.notes(team.tasks()[0]?.id ?? ""), [{ text: "hello again" }]);
});

t.test("an event about an open task is a note on it, also where it waits: its marks and branch are set", async (t) => {
  const team = createTeam();
  team.raise(raising("a"));
  team.deliver();
  const taskId = team.tasks()[0]?.id ?? "";
  const runId = team.tasks()[0]?.runId ?? "";
  team.command(taskId, { type: "run.asking", runId, asks: "May it?" } as Message);
  const thread = { kind: "thread", value: "T1" };
  team.raise(raising("b", { say: "yes", opens: null, branch: "b2", marks: [thread, issue] }));
  team.deliver();
  t.match(team.tasks()[0], {
    state: "inbox",
    asks: "May it?",
    branch: "b2",
    marks: { issue: issue.value, thread: "T1" },
  });
  t.same(team.answers.map(summary).at(-1), ["b", "said"]);
  team.raise(raising("c", { say: "found by it", opens: null, marks: [thread] }));
  team.deliver();
  t.same(
    team.notes(taskId).map(({ text }) => text),
    ["yes", "found by it"],
  );
});

t.test("without opens and without a task it is unmatched", async (t) => {
  const team = createTeam();
  team.raise(raising("a", { opens: null }));
  t.same(team.answers.map(summary), [["a", "unmatched"]]);
  t.same([team.tasks(), team.held()], [[], []]);
});

t.test(
  "what is raised under a key is done once, whether it is asked again before or after the task took it",
  async (t) => {
    const team = createTeam();
    team.raise(raising("a"));
    team.raise(raising("a", { deliveryId: "dlv_2" }));
    team.deliver();
    team.raise(raising("a", { deliveryId: "dlv_3" }));
    team.deliver();
    t.equal(team.tasks().length, 1);
    t.same(
      team.answers.map(({ deliveryId, outcome }) => [deliveryId, outcome]),
      [
        ...[
          ["dlv_1", "opened"],
          ["dlv_2", "opened"],
          ["dlv_3", "opened"],
        ],
      ],
    );
    t.equal(new Set(team.answers.map(({ taskId }) => taskId)).size, 1);
  },
);

t.test(
  "a task that is over has no marks: the next event opens another, which an old answer does not free",
  async (t) => {
    const team = createTeam();
    team.raise(raising("a"));
    team.deliver();
    const first = team.tasks()[0]?.id ?? "";
    team.command(first, { type: "task.close", by: "usr_1" } as Message);
    // The marks actor has not yet received the news that the first task was closed.
    team.raise(raising("b"));
    team.deliver();
    const [, second] = team.tasks();
    t.same(team.answers.map(summary), [
      ["a", "opened"],
      ["b", "opened"],
    ]);
    t.same(team.held(), [{ ...issue, taskId: second?.id }]);
    t.same(team.tasks()[0]?.marks, { issue: issue.value }, "the mark stays written on the first");
  },
);

t.test("a mark of an open task stays with it, whoever else is given it", async (t) => {
  const team = createTeam();
  team.raise(raising("a"));
  team.raise(raising("b", { marks: [{ kind: "issue", value: "other" }] }));
  team.deliver();
  const [one, two] = team.tasks();
  team.tell({ type: "marks.set", taskId: two?.id, marks: [issue, { kind: "thread", value: "T" }] } as Message);
  team.deliver();
  t.same(
    team.tasks().map(({ marks }) => marks),
    [{ issue: issue.value }, { issue: "other", thread: "T" }],
  );
  t.same(
    team.held().map(({ value, taskId }) => [value, taskId]),
    [
      [issue.value, one?.id],
      ["other", two?.id],
      ["T", two?.id],
    ],
  );
});

t.test("of a kind a task has one mark: another value frees the one before", async (t) => {
  const team = createTeam();
  team.raise(raising("a"));
  team.deliver();
  const taskId = team.tasks()[0]?.id ?? "";
  team.tell({ type: "marks.set", taskId, marks: [{ kind: "issue", value: "moved#1" }] } as Message);
  team.deliver();
  t.same(team.held(), [{ kind: "issue", value: "moved#1", taskId }]);
});

t.test("a line that is gone opens nothing, before the task's turn and in it", async (t) => {
  const team = createTeam();
  team.raise(raising("a", { opens: { ...opens, lineId: "line_9" } }));
  team.raise(raising("b", { opens: { ...opens, station: "gone" } }));
  t.same(team.answers.map(summary), [
    ["a", "failed", "line-gone"],
    ["b", "failed", "station-gone"],
  ]);
  team.raise(raising("c"));
  team.raise(raising("d", { say: "me too" }));
  team.rows.remove(resources.key(workspaceId, "line", lineId));
  team.deliver();
  t.same(team.answers.map(summary).slice(2), [
    ["c", "failed", "line-gone"],
    ["d", "failed", "line-gone"],
  ]);
  t.same([team.tasks(), team.held()], [[], []]);
});

t.test("what is told to a task that ended meanwhile is noted there, and leaves no mark", async (t) => {
  const team = createTeam();
  team.raise(raising("a"));
  team.deliver();
  const taskId = team.tasks()[0]?.id ?? "";
  team.raise(raising("b", { say: "late", marks: [issue, { kind: "thread", value: "T" }] }));
  team.command(taskId, { type: "task.close", by: "usr_1" } as Message);
  team.deliver();
  t.same(
    team.notes(taskId).map(({ text }) => text),
    ["late"],
  );
  t.same(team.held(), []);
});

t.test("what comes from outside is cut: title, branch, marks", async (t) => {
  const team = createTeam();
  const title = `<b>\u202e${"x".repeat(400)}`;
  const marks = [issue, { kind: "empty", value: "" }, { kind: "long", value: "x".repeat(300) }];
  team.raise(
    raising("a", { branch: "--upload-pack=x", marks, opens: { ...opens, title, url: "javascript:alert(1)" } }),
  );
  team.raise(raising("b", { marks: [], opens: { ...opens, title: " \n" } }));
  team.deliver();
  const [task, untitled] = team.tasks();
  t.match(task, { url: "", marks: { issue: issue.value } });
  t.equal(task?.title, `<b> ${"x".repeat(296)}`);
  t.equal(task?.branch, undefined);
  team.raise(raising("c", { branch: "--upload-pack=x", marks: [issue] }));
  team.deliver();
  t.match(
    team.notes(task?.id ?? ""),
    [{ from: "service", text: /named a branch that git does not allow: --upload-pack=x/ }],
    "once, however often it comes",
  );
  t.equal(team.notes(task?.id ?? "").length, 1);
  t.equal(untitled?.title, "Untitled");
});

t.test("keys are known for 7 days, then forgotten; without any the actor ends", async (t) => {
  const team = createTeam();
  const marks = team.stepping(teamMarksRef(workspaceId, teamId));
  const [wake] = team.raise(raising("a", { opens: null })).wakes;
  const later = marks.now + 25 * 60 * 60 * 1_000;
  marks.now = later;
  team.raise(raising("b", { opens: null }));
  marks.now = wake?.dueMs ?? 0;
  t.notOk(team.tell({ type: "woken", name: wake?.name, dueMs: marks.now } as Message).stopped);
  t.same(
    taskRaises.list(team.rows, workspaceId).map(({ key }) => key),
    ["b"],
  );
  marks.now = later + 8 * 24 * 60 * 60 * 1_000;
  t.ok(team.tell({ type: "woken", name: "forget 1", dueMs: marks.now } as Message).stopped);
  t.same(taskRaises.list(team.rows, workspaceId), []);
});

t.test("a person who is not on the team is assigned nothing", async (t) => {
  const team = createTeam();
  team.raise(raising("a", { opens: { ...opens, assigneeEmail: "usr_9@example.com" } }));
  team.deliver();
  t.equal(team.tasks()[0]?.assignee, null);
});

t.test("what bindings act on is published: an ask, the approval that a run waits for, the end", async (t) => {
  const team = createTeam();
  team.raise(raising("a"));
  team.deliver();
  const { id: taskId = "", runId } = team.tasks()[0] ?? {};
  const facts = (message: object) => team.command(taskId, message as Message).facts;
  const waits = facts({ type: "run.asking", runId, asks: "May it?" });
  const task = { id: taskId, line: "dev", station: "work", marks: { issue: issue.value } };
  const of = { workspaceId, teamId, lineId, task };
  t.match(waits, [{ name: "task.asked", happening: { ...of, ask: { body: "May it?", isApproval: true } } }]);
  t.same(facts({ type: "run.asking", runId, asks: "May it?" }), [], "once");
  const over = facts({ type: "run.over", runId, outcome: "failed" });
  t.match(over, [{ name: "task.asked", happening: { ask: { body: "The run was deleted.", isApproval: false } } }]);
  t.match(facts({ type: "task.close", by: "usr_1" }), [{ name: "task.closed", happening: { ...of, ask: null } }]);
});
