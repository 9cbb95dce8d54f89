import t from "tap";
import { SPENT, STEPS } from "./agent.js";
import type { Findings, FoundFiring, FoundRun, FoundTask } from "./findings.js";
import { listBroken, tellers } from "./promises.js";

const steps = Array.from({ length: STEPS }, (_, index) => `step ${index + 1}`);
const run: FoundRun = {
  id: "run_1",
  state: "ended",
  outcome: "completed",
  spent: { amount: SPENT },
  waiting: null,
  shown: [...steps, "something else"],
};
const task: FoundTask = {
  id: "task_1",
  title: "work-1",
  state: "done",
  asks: null,
  notes: [{ text: "note-1" }],
  runs: [run],
};
const opened = { occurrence: "occ_a", on: "task.opened", taskId: "task_1", runId: null };
const ended = { occurrence: "occ_b", on: "run.ended", taskId: "task_1", runId: "run_1" };
const firing: FoundFiring = {
  id: "occ_1",
  occurrence: "occ_a",
  hook: tellers["task.opened"],
  on: "task.opened",
  taskId: "task_1",
  state: "delivered",
  code: null,
  attempts: [{ n: 1, status: 200, code: null }],
};
const other: FoundFiring = { ...firing, id: "occ_2", occurrence: "occ_b", hook: tellers["run.ended"], on: "run.ended" };
const arrival = { id: "msg_1_tell", firingId: "occ_1", digest: "a", isSigned: true, taskId: "task_1", isTaken: true };

const acknowledged = {
  secrets: [{ name: "secret-1", id: "sec_1" }],
  tasks: [{ key: "task-1", id: "task_1", title: "work-1" }],
  notes: [{ taskId: "task_1", text: "note-1" }],
  deliveries: [{ key: "work-1", title: "work-1" }],
};
const whole: Findings = {
  secrets: [{ name: "secret-1", id: "sec_1" }],
  tasks: [task],
  events: [opened, ended],
  hasAllEvents: true,
  firings: [firing, other],
  streamed: new Set(["task_1"]),
  comments: [],
  pullRequests: [],
  pulls: [],
  forced: [],
  arrivals: [arrival, { ...arrival, id: "msg_2_tell", firingId: "occ_2" }],
  starts: [{ pid: 1, runId: "run_1", taskId: "task_1" }],
};

const withRun = (changed: Partial<FoundRun>) => ({ tasks: [{ ...task, runs: [{ ...run, ...changed }] }] });
const withFiring = (changed: Partial<FoundFiring>) => ({ firings: [{ ...firing, ...changed }, other] });

/** Changes of the findings. Each change breaks a promise, and the pattern matches the complaint about it. */
const broken: readonly (readonly [string, Partial<Findings>, RegExp])[] = [
  ["a resource is gone", { secrets: [] }, /^lost: secret secret-1/],
  ["a resource has another id", { secrets: [{ name: "secret-1", id: "sec_2" }] }, /^lost: secret secret-1/],
  [
    "a resource is there twice",
    { secrets: [...whole.secrets, { name: "secret-1", id: "sec_1" }] },
    /^twice: secrets secret-1/,
  ],
  ["a task is another", { tasks: [{ ...task, title: "work-2" }] }, /^lost: task task_1/],
  ["a task is there twice", { tasks: [task, { ...task, id: "task_2", runs: [] }] }, /^twice: tasks work-1/],
  ["a note is gone", { tasks: [{ ...task, notes: [] }] }, /^lost: note/],
  ["a note is there twice", { tasks: [{ ...task, notes: [...task.notes, ...task.notes] }] }, /^twice: note/],
  ["a run waits for ever", withRun({ state: "queued", outcome: null, shown: null }), /^stuck: run run_1/],
  ["a run's end is told twice", { events: [opened, ended, ended] }, /^twice: run run_1 .* ended 2 times/],
  ["a run's end is not told", { events: [opened] }, /^lost: no event of the end/],
  ["two agents had a run", { starts: [...whole.starts, ...whole.starts] }, /^twice: 2 agents/],
  ["a step is gone", withRun({ shown: steps.slice(1) }), /^lost or twice: run run_1/],
  ["a step is there twice", withRun({ shown: ["step 1", ...steps] }), /^lost or twice: run run_1/],
  ["a cost is counted twice", withRun({ spent: { amount: 2 * SPENT } }), /^lost or twice: .* spent/],
  ["an agent worked on what was refused", { tasks: [{ ...task, title: "veto-1" }] }, /^a veto was passed by/],
  ["a stream told of what is not there", { streamed: new Set(["task_9"]) }, /^left before the flush: a stream/],
  ["an agent had a run that is not there", withRun({ id: "run_9" }), /^left before the flush: an agent/],
  ["a receiver was sent what is not there", { firings: [other] }, /^left before the flush: a receiver/],
  ["a task was opened twice", { events: [opened, ended, { ...opened, occurrence: "occ_c" }] }, /^twice: opened tasks/],
  ["a task's opening is not told", { events: [ended] }, /^lost: the event of the opening/],
  ["a hook did not fire", { firings: [firing] }, /^lost: the firing of tell-ended/],
  ["a hook fired twice on an event", { firings: [firing, other, { ...other, id: "occ_3" }] }, /^twice: firings/],
  ["an attempt is left out", withFiring({ attempts: [{ n: 2, status: 200, code: null }] }), /has the attempts 2/],
  ["a firing waits for ever", withFiring({ state: "waiting", code: "timeout" }), /is waiting timeout/],
  ["nobody took a firing", { arrivals: whole.arrivals.slice(1) }, /is delivered, and no receiver took it/],
  ["a request is not signed", { arrivals: [...whole.arrivals, { ...arrival, isSigned: false }] }, /is not signed/],
  ["an id has two bodies", { arrivals: [...whole.arrivals, { ...arrival, digest: "b" }] }, /^two bodies came/],
  [
    "an attempt is counted twice",
    withFiring({ attempts: [1, 2].map((n) => ({ n, status: 503, code: "server-error" })) }),
    /^counted twice: occ_1/,
  ],
  ["a request was no attempt", { arrivals: [...whole.arrivals, arrival] }, /^not counted: occ_1/],
];

t.test("nothing is broken where everything is there once", async (t) => {
  t.same(listBroken(acknowledged, whole), []);
});

t.test("nothing is told of events that are kept no longer", async (t) => {
  t.same(listBroken(acknowledged, { ...whole, events: [], hasAllEvents: false }), []);
});

for (const [what, found, message] of broken) {
  t.test(`it is told when ${what}`, async (t) => {
    t.match(listBroken(acknowledged, { ...whole, ...found }).join("\n"), new RegExp(message, "m"));
  });
}
