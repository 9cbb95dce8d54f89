import t from "tap";
import { atOnce, type InSteps } from "../../../actors/in-steps.js";
import { approvals } from "../../../actors/runs/approval.table.js";
import { countWaits, listInbox, listTeamWaits, MAX_COUNTED, type Whose } from "../../../actors/tasks/inbox.queries.js";
import type { TaskRow } from "../../../actors/tasks/task.js";
import { tasks } from "../../../actors/tasks/task.table.js";
import { members } from "../../../actors/workspaces/member.table.js";
import { countingReading } from "../../support/counting-rows.js";
import { measureSteps } from "../../support/measured-steps.js";
import { memoryRows } from "../../support/turn.js";

const workspaceId = "ws_1";
const caller = { kind: "person", userId: "usr_1", email: "a@example.com", sessionId: "ses_1" } as const;
const teams = ["team_1", "team_2"];

function task(n: number, more: Partial<TaskRow>): TaskRow {
  return {
    id: `task_${String(n).padStart(6, "0")}`,
    teamId: "team_1",
    lineId: "line_1",
    title: "",
    description: "",
    url: "",
    station: "work",
    state: "done",
    assignee: "usr_1",
    openedBy: { kind: "person", userId: "usr_1" },
    marks: {},
    pullRequest: null,
    runId: null,
    asks: null,
    failure: null,
    openedAt: "",
    movedAt: "",
    ...more,
  };
}

interface Expected {
  readonly id: string;
  readonly teamId: string;
  readonly whom: string | null;
  readonly sinceMs: number;
}

/**
 * Returns rows with many items of three teams. The caller is on two of these teams; also returns a list of the items of
 * these two.
 */
function scene() {
  const rows = memoryRows();
  const all: Expected[] = [];
  const member = { userId: "usr_1", email: "a@example.com", name: "", role: "member", teams, since: "" } as const;
  members.put(rows, workspaceId, null, member);
  rows.put([workspaceId, "row", "resource", "workspace", workspaceId], { id: workspaceId, address: "acme" });
  for (let n = 0; n < 900; n += 1) {
    const teamId = `team_${(n % 3) + 1}`;
    const whom = [null, "usr_1", "usr_2"][Math.floor(n / 3) % 3] ?? null;
    const sinceMs = 1_700_000_000_000 + ((n * 7_919) % 300) * 1_000;
    const isTask = n % 2 === 0;
    const id = isTask ? `task_${String(n).padStart(6, "0")}` : `apr_${n}`;
    if (isTask) {
      const waits = { kind: "question", sinceMs } as const;
      tasks.insert(rows, workspaceId, task(n, { teamId, assignee: whom, state: "inbox", waits }));
    } else {
      const askedAt = new Date(sinceMs).toISOString();
      const of = { id, runId: `run_${n}`, teamId, approver: whom, askedAt, state: "open", kind: "permission" } as const;
      const asked = { request: "1", tool: "shell", inputs: "{}", reason: "" };
      const answer = { edited: null, note: null, answeredAt: null, answeredBy: null };
      approvals.insert(rows, workspaceId, { ...of, ...asked, ...answer });
      approvals.insert(rows, workspaceId, { ...of, ...asked, ...answer, id: `${id}x`, state: "dismissed" });
    }
    if (teams.includes(teamId)) all.push({ id, teamId, whom, sinceMs });
  }
  for (let n = 1_000; n < 3_000; n += 1) tasks.insert(rows, workspaceId, task(n, {}));
  all.sort((left, right) => left.sinceMs - right.sinceMs || (left.id < right.id ? -1 : 1));
  return { rows, all };
}

const selections: Readonly<Record<Whose, (item: Expected) => boolean>> = {
  me: ({ whom }) => whom === "usr_1",
  none: ({ whom }) => whom === null,
  all: () => true,
};

type Page = ReturnType<typeof listInbox> extends InSteps<infer Found> ? Found : never;

t.test("pages of any size list the same items in the same order", async (t) => {
  const { rows, all } = scene();
  const lines = atOnce(listTeamWaits(rows, caller, workspaceId));
  for (const whose of ["me", "none", "all"] as const) {
    const expected = all.filter(selections[whose]).map(({ id }) => id);
    t.equal(atOnce(countWaits(rows, caller, lines))[whose], expected.length, whose);
    for (const limit of [1, 7, 50, 200]) {
      const read: string[] = [];
      let after: { readonly sinceMs: number; readonly id: string } | null = null;
      for (;;) {
        const page: Page = atOnce(listInbox(rows, caller, lines, { whose, after, limit }));
        read.push(...page.map(({ id }) => id));
        after = page.at(-1) ?? null;
        if (page.length < limit) break;
      }
      t.same(read, expected, `${whose}, ${limit} a page`);
    }
  }
});

t.test("a page reads its own entries and a few of each team", async (t) => {
  const { rows } = scene();
  const counting = countingReading(rows);
  const lines = atOnce(listTeamWaits(counting, caller, workspaceId));
  t.ok(counting.read <= 10, `the teams took ${counting.read} rows`);
  for (const limit of [1, 50]) {
    counting.reset();
    t.equal(atOnce(listInbox(counting, caller, lines, { whose: "all", after: null, limit })).length, limit);
    t.ok(counting.read <= 2 * limit + 4 * lines.length, `${limit} items took ${counting.read} rows`);
  }
});

t.test("counts end at their limit", async (t) => {
  const { rows } = scene();
  for (let n = 5_000; n < 6_500; n += 1) {
    const waits = { kind: "failure", sinceMs: 1_800_000_000_000 } as const;
    tasks.insert(rows, workspaceId, task(n, { state: "inbox", waits }));
  }
  const counting = countingReading(rows);
  const lines = atOnce(listTeamWaits(counting, caller, workspaceId));
  counting.reset();
  const { me, all } = atOnce(countWaits(counting, caller, lines));
  t.same([me, all], [MAX_COUNTED, MAX_COUNTED]);
  t.ok(counting.read <= 3 * MAX_COUNTED, `the three counts took ${counting.read} rows`);
});

t.test("a task that leaves the inbox leaves the index", async (t) => {
  const { rows, all } = scene();
  const lines = atOnce(listTeamWaits(rows, caller, workspaceId));
  for (const row of tasks.list(rows, workspaceId)) {
    if (row.waits === undefined) continue;
    const { waits: _waits, ...left } = row;
    tasks.put(rows, workspaceId, row, { ...left, state: "queued" });
  }
  for (const row of approvals.list(rows, workspaceId)) approvals.remove(rows, workspaceId, row);
  t.same(atOnce(countWaits(rows, caller, lines)), { me: 0, none: 0, all: 0 });
  t.ok(all.length > 500);
});

const TEAMS = 2_000;
const tokenCaller = {
  kind: "token",
  tokenId: "tok_1",
  workspaceId,
  scopes: ["read"],
  issuedBy: "usr_1",
  trust: null,
} as const;

/**
 * Returns rows of a workspace with {@link TEAMS} teams. In one of every `nth` teams, a task without an assignee waits
 * with a question.
 */
function manyTeams(nth: number) {
  const rows = memoryRows();
  rows.put([workspaceId, "row", "resource", "workspace", workspaceId], { id: workspaceId, address: "acme" });
  for (let n = 0; n < TEAMS; n += 1) {
    const teamId = `team_${String(n).padStart(6, "0")}`;
    rows.put([workspaceId, "row", "resource-address", "team", `t${n}`], teamId);
    if (n % nth !== 0) continue;
    const waits = { kind: "question", sinceMs: 1_700_000_000_000 + n } as const;
    tasks.insert(rows, workspaceId, task(n, { teamId, assignee: null, state: "inbox", waits }));
  }
  return { rows, reading: countingReading(rows) };
}

t.test("in a workspace with thousands of teams, no step reads much, and empty teams cost nothing", async (t) => {
  const { reading } = manyTeams(500);
  const found = measureSteps(reading, listTeamWaits(reading, tokenCaller, null));
  t.equal(found.result.length, TEAMS / 500);
  t.ok(found.most <= 125, `a step read ${found.most} rows`);
  t.ok(found.total <= TEAMS + 20, `the teams took ${found.total} rows`);
  const counts = measureSteps(reading, countWaits(reading, tokenCaller, found.result));
  t.same(counts.result, { me: 0, none: 4, all: 4 });
  t.ok(counts.total <= 2 * 4);
  const page = { whose: "all", after: null, limit: 50 } as const;
  t.equal(measureSteps(reading, listInbox(reading, tokenCaller, found.result, page)).total, 4);
});

t.test("when thousands of teams have items, no step reads many rows", async (t) => {
  const { reading } = manyTeams(1);
  const found = measureSteps(reading, listTeamWaits(reading, tokenCaller, null));
  const counts = measureSteps(reading, countWaits(reading, tokenCaller, found.result));
  t.same(counts.result, { me: 0, none: MAX_COUNTED, all: MAX_COUNTED });
  const page = { whose: "none", after: null, limit: 200 } as const;
  const listed = measureSteps(reading, listInbox(reading, tokenCaller, found.result, page));
  t.equal(listed.result.length, 200);
  t.equal(listed.result.at(-1)?.sinceMs, 1_700_000_000_199);
  for (const { most } of [found, counts, listed]) t.ok(most <= 125, `a step read ${most} rows`);
});

t.test("a member of a few teams pays for these alone", async (t) => {
  const { rows, reading } = manyTeams(1);
  const own = ["team_000007", "team_001999"];
  const member = { userId: "usr_1", email: "a@example.com", name: "", role: "member", teams: own, since: "" } as const;
  members.put(rows, workspaceId, null, member);
  const found = measureSteps(reading, listTeamWaits(reading, caller, workspaceId));
  t.same(
    found.result.map(({ teamId }) => teamId),
    own,
  );
  t.ok(found.total <= 10, `the teams took ${found.total} rows`);
});
