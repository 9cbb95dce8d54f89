import t from "tap";
import type { TokenCaller } from "../../../actors/caller.js";
import { resources } from "../../../actors/resources/resource.table.js";
import type { RunEnding } from "../../../actors/runners/protocol.js";
import type { RunOutcome } from "../../../actors/runs/run.js";
import { runs } from "../../../actors/runs/run.table.js";
import { taskActor } from "../../../actors/tasks/task.machine.js";
import { taskNotes, tasks } from "../../../actors/tasks/task.table.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { memoryRows, type Stepping, stepByHand, type TurnTaken } from "../../support/turn.js";
import { lineId, putLine, teamId, workspaceId } from "../../support/work.js";

const by = "usr_1";
const open = {
  type: "task.open",
  teamId,
  lineId,
  title: "Do it",
  description: "",
  url: "",
  station: null,
  assignee: by,
  by,
} as Message;

/** The bearer of the token that {@link putToken} writes. */
const caller: TokenCaller = {
  kind: "token",
  tokenId: "tok_1",
  workspaceId,
  scopes: ["work"],
  issuedBy: "usr_1",
  trust: null,
};

/** Writes the token `ci`, which never expires. */
function putToken({ rows }: Stepping): void {
  resources.put(rows, workspaceId, ["workspace-token", "tok_1"], {
    kind: "workspace-token",
    workspaceId,
    id: "tok_1",
    teamId: null,
    address: "ci",
    version: 1,
    fields: { name: "ci", scopes: ["work"], description: "", expiresAt: null },
    hidden: { token: "hash" },
    added: { issuedBy: "usr_1" },
    createdAt: "",
    updatedAt: "",
  });
}

/** Named endings of a run. */
const endings: Record<string, { readonly outcome: RunOutcome; readonly ending: RunEnding | null }> = {
  "handed over": { outcome: "completed", ending: { kind: "handover", to: "review", note: "look" } },
  "handed over to nowhere": { outcome: "completed", ending: { kind: "handover", to: "gone", note: "" } },
  asks: { outcome: "completed", ending: { kind: "ask", question: "Which?" } },
  "finished early": { outcome: "completed", ending: { kind: "finish", note: "" } },
  failed: { outcome: "failed", ending: null },
  stopped: { outcome: "stopped", ending: null },
  withdrawn: { outcome: "withdrawn", ending: null },
  abandoned: { outcome: "abandoned", ending: null },
};

function task(): Stepping {
  const rows = memoryRows();
  putLine(rows);
  return stepByHand(taskActor, address(workspaceId, "task", "task_1"), { rows });
}

const findRow = ({ rows }: Stepping) => tasks.get(rows, workspaceId, "task_1");
const toRun = (stepping: Stepping) => findRow(stepping)?.runId ?? "";

/** Writes the named ending to the current run's row; returns the message that ends the run. */
function over(stepping: Stepping, name: string): Message {
  const id = toRun(stepping);
  const ended = endings[name];
  const station = findRow(stepping)?.station ?? "";
  const passesTo = station === "work" ? ["review"] : ["work"];
  const row = {
    id,
    taskId: "task_1",
    lineId,
    stationKey: station,
    passesTo,
    failure: null,
    reason: "said so",
    endedAt: null,
    ...ended,
  };
  stepping.rows.put(runs.key(workspaceId, id), row);
  return { type: "run.over", runId: id, outcome: ended?.outcome } as Message;
}

const plain: Record<string, Message> = {
  open,
  began: { type: "run.began" } as Message,
  "waits for approval": { type: "run.asking", asks: "May it?" } as Message,
  "waits no more": { type: "run.asking", asks: null } as Message,
  "another run waits": { type: "run.asking", runId: "run_other", asks: "May it?" } as Message,
  answer: { type: "task.answer", by, text: "this one" } as Message,
  "answer by another": { type: "task.answer", by: "usr_2", text: "no" } as Message,
  stop: { type: "task.stop", by } as Message,
  "stop by another": { type: "task.stop", by: "usr_2" } as Message,
  retry: { type: "task.retry", by } as Message,
  move: { type: "task.move", by, to: "review" } as Message,
  "move nowhere": { type: "task.move", by, to: "gone" } as Message,
  close: { type: "task.close", by } as Message,
  withdraw: { type: "task.withdraw" } as Message,
  assign: { type: "task.assign", by, assignee: "usr_2" } as Message,
  "assign to a stranger": { type: "task.assign", by, assignee: "usr_9" } as Message,
  left: { type: "task.unassign", userId: by, left: "team" } as Message,
  note: { type: "note", from: "hook tell", text: "seen", key: null } as Message,
  "note by hand": { type: "task.note", by, text: "mind the gap" } as Message,
  "another run's end": { type: "run.over", runId: "run_other", outcome: "completed" } as Message,
};

/** Messages that the current run sends. */
const ofRun = ["began", "waits for approval", "waits no more"];

function message(stepping: Stepping, name: string): Message {
  if (name in endings) return over(stepping, name);
  const found = plain[name];
  if (found === undefined) throw new Error(name);
  return ofRun.includes(name) ? ({ ...found, runId: toRun(stepping) } as Message) : found;
}

const paths: Record<string, readonly string[]> = {
  new: [],
  queued: ["open"],
  running: ["open", "began"],
  inbox: ["open", "began", "asks"],
  "inbox, for leave": ["open", "began", "waits for approval"],
  done: ["open", "began", "handed over", "began", "finished early"],
  closed: ["open", "close"],
};

const working = (state: string): Record<string, string> => ({
  "handed over": "queued at review",
  "handed over to nowhere": "inbox at work",
  asks: "inbox at work",
  "finished early": "inbox at work",
  failed: "inbox at work",
  stopped: "inbox at work",
  withdrawn: "inbox at work",
  abandoned: "queued at work",
  stop: `${state} at work`,
  "stop by another": `${state} at work`,
  move: "queued at review",
  "move nowhere": `${state} at work`,
  close: "closed at work",
  withdraw: "closed at work",
  "assign to a stranger": `${state} at work`,
  left: `${state} at work`,
  assign: `${state} at work`,
  note: `${state} at work`,
  "note by hand": `${state} at work`,
  "another run's end": `${state} at work`,
  "waits for approval": "inbox at work",
  "waits no more": "running at work",
  "another run waits": `${state} at work`,
});
const over9 = (at: string) =>
  Object.fromEntries(
    [...Object.keys(endings), ...ofRun.slice(1), "another run's end", "another run waits", "note", "note by hand"].map(
      (name) => [name, at],
    ),
  );

/**
 * State x message -> next state and station. The machine refuses each message that the table does not list for a state.
 */
const table: Record<string, Record<string, string>> = {
  new: { open: "queued at work", note: "new" },
  queued: { ...working("queued"), began: "running at work" },
  running: working("running"),
  inbox: {
    ...over9("inbox at work"),
    answer: "queued at work",
    "answer by another": "inbox at work",
    retry: "queued at work",
    move: "queued at review",
    "move nowhere": "inbox at work",
    close: "closed at work",
    withdraw: "closed at work",
    assign: "inbox at work",
    "assign to a stranger": "inbox at work",
    left: "inbox at work",
  },
  "inbox, for leave": {
    ...working("inbox"),
    answer: "inbox at work",
    "answer by another": "inbox at work",
    retry: "inbox at work",
  },
  done: { ...over9("done at review"), left: "done at review" },
  closed: { ...over9("closed at work"), left: "closed at work" },
};

for (const [state, path] of Object.entries(paths)) {
  for (const name of [...Object.keys(plain), ...Object.keys(endings)]) {
    const wanted = table[state]?.[name];
    t.test(`${state} x ${name}: ${wanted ?? "refused"}`, async (t) => {
      const stepping = task();
      for (const step of path) t.ok(stepping.take(message(stepping, step)).taken, step);
      const turn = stepping.take(message(stepping, name));
      t.equal(turn.taken, wanted !== undefined);
      if (wanted === undefined) return;
      const row = findRow(stepping);
      t.equal(row === undefined ? String(stepping.value) : `${stepping.value} at ${row.station}`, wanted);
      if (row !== undefined) t.equal(row.state, stepping.value, "the row says what the machine does");
    });
  }
}

t.test("a review at the last station finishes the task; passing to an earlier station sends it back", async (t) => {
  const stepping = task();
  for (const name of ["open", "began", "handed over", "began"]) stepping.take(message(stepping, name));
  endings["sent back"] = { outcome: "completed", ending: { kind: "handover", to: "work", note: "not listed" } };
  const turn = stepping.take(message(stepping, "sent back"));
  delete endings["sent back"];
  t.equal(findRow(stepping)?.station, "work");
  t.match(turn.facts, [{ name: "task.moved", work: { event: { from: "review", to: "work" } } }]);
  t.same(
    taskNotes.list(stepping.rows, workspaceId, ["task_1"]).map(({ from, text }) => [from, text]),
    [
      ["station work", "look"],
      ["station review", "not listed"],
    ],
  );
});

t.test("what bindings act on is told once: a question, the end, a close by a person", async (t) => {
  const told: Record<string, object[]> = {
    asks: [{ name: "task.asked", happening: { ask: { body: "Which?", isApproval: false } } }],
    "waits for approval": [{ name: "task.asked", happening: { ask: { body: "May it?", isApproval: true } } }],
    close: [{ name: "task.closed", happening: { ask: null } }],
    withdraw: [],
  };
  const happenings = ({ facts }: TurnTaken) => facts.filter(({ name }) => name !== "task.moved");
  for (const [name, wanted] of Object.entries(told)) {
    const stepping = task();
    for (const step of ["open", "began"]) stepping.take(message(stepping, step));
    const [happening, ...more] = happenings(stepping.take(message(stepping, name)));
    t.match([happening, more], [wanted[0], []], name);
  }
  const stepping = task();
  for (const step of paths.done?.slice(0, -1) ?? []) {
    t.notMatch(stepping.take(message(stepping, step)).facts, [{ name: "task.finished" }], step);
  }
  const over = happenings(stepping.take(message(stepping, "finished early")));
  t.match(over, [
    { name: "task.finished", happening: { teamId, lineId, task: { id: "task_1", stationKey: "review" }, ask: null } },
  ]);
  t.equal(over.length, 1);
  for (const name of ["left", "note", "another run's end"]) {
    t.same(happenings(stepping.take(message(stepping, name))), [], name);
  }
});

t.test("after five abandoned runs in a row the task goes to a person; a completed run resets the count", async (t) => {
  const stepping = task();
  stepping.take(open);
  for (let time = 1; time <= 4; time++) stepping.take(message(stepping, "abandoned"));
  t.equal(stepping.value, "queued");
  stepping.take(message(stepping, "abandoned"));
  t.equal(stepping.value, "inbox");
  t.match(findRow(stepping)?.asks, /5 runs in a row/);
});

t.test("only the assignee answers and stops; the refusal says so", async (t) => {
  const stepping = task();
  stepping.take(open);
  t.match(stepping.take(message(stepping, "stop by another")).answer, { refused: "forbidden" });
  const turn = stepping.take(message(stepping, "stop"));
  t.match(turn.sent, [{ to: { kind: "run" }, message: { type: "run.end", outcome: "stopped" } }]);
});

t.test("a note with a key is added once", async (t) => {
  const stepping = task();
  stepping.take(open);
  for (let time = 0; time < 2; time++) stepping.take({ ...plain.note, type: "note", key: "once" } as Message);
  t.equal(taskNotes.list(stepping.rows, workspaceId, ["task_1"]).length, 1);
});

t.test("opening a task is refused, without a trace, when its line or station was removed meanwhile", async (t) => {
  const stepping = task();
  const elsewhere = stepping.take({ ...open, station: "gone" } as Message);
  t.match(elsewhere.answer, { refused: "invalid", errors: [{ path: "station" }] });
  const lineless = stepping.take({ ...open, lineId: "line_gone" } as Message);
  t.match(lineless.answer, { refused: "invalid", errors: [{ path: "line" }] });
  const nobodys = stepping.take({ ...open, assignee: "usr_9" } as Message);
  t.match(nobodys.answer, { refused: "invalid", errors: [{ path: "assignee" }] });
  t.equal(stepping.value, "new");
  t.same([elsewhere.sent, lineless.sent, findRow(stepping)], [[], [], undefined]);
});

t.test("a task whose run waits for approval shows it, and is neither answered nor retried meanwhile", async (t) => {
  const stepping = task();
  for (const name of ["open", "began", "waits for approval"]) stepping.take(message(stepping, name));
  t.match(findRow(stepping), { state: "inbox", asks: "May it?" });
  for (const name of ["answer", "retry"]) {
    const turn = stepping.take(message(stepping, name));
    t.match(turn.answer, { refused: "conflict", detail: /waits for approval/ }, name);
    t.same(turn.sent, []);
  }
  t.match(stepping.take(message(stepping, "stop by another")).answer, { refused: "forbidden" });
  t.match(stepping.take(message(stepping, "stop")).sent, [{ message: { type: "run.end", outcome: "stopped" } }]);
  stepping.take(message(stepping, "waits no more"));
  t.match(findRow(stepping), { state: "running", asks: null });
});

t.test("an open task of a person who left is unassigned, with a note, unless another took it over", async (t) => {
  const stepping = task();
  stepping.take(open);
  t.match(stepping.take(message(stepping, "assign to a stranger")).answer, { errors: [{ path: "assignee" }] });
  stepping.take(message(stepping, "left"));
  t.equal(findRow(stepping)?.assignee, null);
  const notes = () =>
    taskNotes.list(stepping.rows, workspaceId, ["task_1"]).map(({ from, text }) => `${from}: ${text}`);
  t.same(notes(), ["service: Its assignee left the team: the task now has no assignee."]);
  stepping.take(message(stepping, "assign"));
  t.same(stepping.take(message(stepping, "left")).intents, []);
  t.equal(findRow(stepping)?.assignee, "usr_2");
  t.equal(notes().length, 1);
});

t.test("a task says who opened it: the person, or the token with its name", async (t) => {
  const opened = task();
  opened.take(open);
  t.same(findRow(opened)?.openedBy, { kind: "person", userId: by });
  const byToken = task();
  putToken(byToken);
  byToken.take({ ...open, token: caller } as Message);
  t.same(findRow(byToken)?.openedBy, { kind: "token", tokenId: "tok_1", name: "ci", trust: null });
});

t.test("a command of a token that has ended is refused, and opens, adds and closes nothing", async (t) => {
  const refused = { refused: "unauthenticated", detail: "The token was revoked, or it has expired." };
  const opening = task();
  const taken = opening.take({ ...open, token: caller } as Message);
  t.same([taken.answer, taken.stopped, findRow(opening)], [refused, true, undefined]);
  const opened = task();
  putToken(opened);
  opened.take({ ...open, token: caller } as Message);
  resources.remove(opened.rows, workspaceId, "workspace-token", "tok_1");
  for (const command of [plain.close, plain["note by hand"]]) {
    const late = opened.take({ ...command, token: caller } as Message);
    t.same([late.answer, late.intents], [refused, []]);
  }
  t.equal(opened.value, "queued");
});
