import t from "tap";
import { checkPullRequests, type FoundPulls } from "./code-host-promises.js";
import type { FoundPullRequest, FoundTask } from "./findings.js";
import type { PullThere } from "./outside-code-host.js";

const task: FoundTask = { id: "task_1", title: "code-1", state: "done", asks: null, notes: [], runs: [] };
const own: FoundPullRequest = { id: "pr_1", taskId: "task_1", number: 1, branch: "b", state: "merged" };
const there: PullThere = { number: 1, branch: "b", state: "merged" };
const merged = { occurrence: "occ_1", on: "pull-request.merged", taskId: "task_1", runId: null };
const whole: FoundPulls = {
  tasks: [task],
  pullRequests: [own],
  pulls: [there],
  forced: [],
  events: [merged],
  hasAllEvents: true,
};
const open = { ...there, state: "open" } as const;

t.test("nothing is broken where both ends know the same, and each merge was told once", async (t) => {
  t.same([...checkPullRequests(whole)], []);
  const waiting = { pullRequests: [{ ...own, state: "open" }], pulls: [open], events: [] };
  t.same([...checkPullRequests({ ...whole, ...waiting })], []);
});

/** Changes of the findings. Each change breaks a promise, and the pattern matches the complaint about it. */
const broken: readonly (readonly [string, Partial<FoundPulls>, RegExp])[] = [
  ["a push was forced", { forced: ["refs/heads/b from 1 to 2"] }, /^forced: a push of refs\/heads\/b/],
  ["two of a branch are open", { pulls: [there, ...[2, 3].map((number) => ({ ...open, number }))] }, /^twice: .* b$/],
  [
    "two of a task are open",
    {
      pullRequests: [
        own,
        ...[2, 3].map((n) => ({ ...own, id: `pr_${n}`, number: n, branch: `b-${n}`, state: "open" })),
      ],
    },
    /^twice: open pull requests of task task_1/,
  ],
  ["a merge is not known", { pullRequests: [{ ...own, state: "open" }] }, /is open, and at the code host merged/],
  ["one waits for ever", { pullRequests: [{ ...own, number: null, state: "opening" }] }, /is opening, .* not there/],
  ["one is of no task", { pulls: [there, { ...open, number: 2 }] }, /^not recorded: pull request 2 of b/],
  ["a change is in none", { pullRequests: [], pulls: [], events: [] }, /^lost: task task_1 code-1 is done/],
  ["one failed", { pullRequests: [own, { ...own, id: "pr_2", state: "failed" }] }, /a pull request of it failed/],
  ["a merge is told twice", { events: [merged, merged] }, /^2 events of 1 merges/],
  ["a merge is not told", { events: [] }, /^0 events of 1 merges/],
];

for (const [what, changed, message] of broken) {
  t.test(`it is told when ${what}`, async (t) => {
    const found = [...checkPullRequests({ ...whole, ...changed })];
    t.ok(
      found.some((line) => message.test(line)),
      found.join("\n"),
    );
  });
}
