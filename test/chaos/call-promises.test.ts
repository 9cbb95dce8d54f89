import t from "tap";
import { checkCalls, checkDeliveries } from "./call-promises.js";
import type { FoundCall, FoundRun, FoundTask } from "./findings.js";

const call: FoundCall = { id: "call_1", tool: "comment", state: "done", code: null, inputs: { text: "run_1 comment" } };
const run: FoundRun = { id: "run_1", state: "ended", outcome: "completed", spent: null, waiting: null, shown: null };
const tasksWith = (changed: Partial<FoundCall>): FoundTask[] => [
  {
    id: "task_1",
    title: "tools-1",
    state: "done",
    asks: null,
    notes: [],
    runs: [{ ...run, calls: [{ ...call, ...changed }] }],
  },
];
const arrived = ["run_1 comment"];
const deliveries = [{ key: "tools-1", title: "tools-1" }];

t.test("nothing is broken where each call was made once, and each delivery opened one task", async (t) => {
  t.same([...checkCalls(tasksWith({}), arrived)], []);
  t.same([...checkDeliveries(deliveries, tasksWith({}))], []);
});

t.test("a failed call may have arrived, and may not, where nobody knows", async (t) => {
  for (const code of ["outcome-unknown", "timeout", "unreachable", "server-error"]) {
    t.same([...checkCalls(tasksWith({ state: "failed", code }), arrived)], []);
    t.same([...checkCalls(tasksWith({ state: "failed", code }), [])], []);
  }
});

/** Changes of the findings. Each change breaks a promise, and the pattern matches the complaint about it. */
const broken: readonly (readonly [string, Partial<FoundCall>, readonly string[], RegExp])[] = [
  ["a call was made twice", {}, [...arrived, ...arrived], /^twice: the call run_1 comment was made 2 times$/],
  ["a call that is done did not arrive", {}, [], /^lost: call call_1/],
  ["a call waits for ever", { state: "waiting" }, [], /^stuck: call call_1 of comment is waiting$/],
  ["a dismissed call arrived", { state: "dismissed" }, arrived, /is dismissed, and arrived all the same$/],
  ["a call with wrong inputs arrived", { state: "failed", code: "invalid" }, arrived, /arrived all the same$/],
  ["a call arrived that nobody knows", {}, [...arrived, "run_2 comment"], /^left before the flush: the call run_2/],
];

for (const [what, changed, comments, message] of broken) {
  t.test(`it is told when ${what}`, async (t) => {
    t.match([...checkCalls(tasksWith(changed), comments)], [message]);
  });
}

t.test("it is told when a delivery that was taken opened no task, or two", async (t) => {
  const [task] = tasksWith({});
  t.match([...checkDeliveries(deliveries, [])], [/^lost: delivery tools-1/]);
  t.match([...checkDeliveries(deliveries, task === undefined ? [] : [task, task])], [/^twice: delivery tools-1/]);
});
