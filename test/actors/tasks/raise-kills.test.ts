import t from "tap";
import { setup } from "xstate";
import { createActorTypes, createKinds } from "../../../actors/catalogue.js";
import { INTEGRATION_REQUEST } from "../../../actors/integrations/requests/integration-request.effects.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { findBlob } from "../../../actors/tables/blobs.js";
import { taskRef } from "../../../actors/tasks/task.messages.js";
import { taskAttachments, taskNotes, tasks } from "../../../actors/tasks/task.table.js";
import {
  type RaisedFiles,
  type RaiseTask,
  type TaskRaised,
  teamMarksRef,
} from "../../../actors/tasks/team-marks.messages.js";
import { taskMarks, taskRaises } from "../../../actors/tasks/team-marks.table.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import { reference } from "../../../runtime/cells/reference.js";
import type { Delivered, Message, Turn } from "../../../runtime/turns/turn.js";
import { effectSpace, undeliveredSpace } from "../../../storage/keys.js";
import { table } from "../../../storage/table.js";
import { Harness } from "../../support/harness.js";
import { plainLane } from "../../support/plain-effect.js";
import { result } from "../../support/tool-call-scene.js";
import { memoryRows } from "../../support/turn.js";
import { lineId, putLine, putTeam, teamId, workspaceId } from "../../support/work.js";

/** Makes a delivery send these raises, in order. A raise opens a task or adds a note. */
interface Go extends Message {
  readonly type: "go";
  readonly keys: readonly string[];
}

const issue = { kind: "issue", value: "acme/app#7" };
const opens = {
  lineId,
  station: null,
  title: "It breaks",
  description: "",
  url: "",
  assigneeEmail: null,
} as const;
const attaches: RaisedFiles = {
  source: "webhook",
  event: 0,
  values: '{"headers":{}}',
  bodyDigest: "d1",
  files: ["a.txt", "gone.txt"].map((name) => ({ name, type: null, size: null, file: JSON.stringify({ name }) })),
};
/**
 * Raised by the first delivery: a task with files, a note about it, an unmatched note, and a raise on a removed line.
 */
const first = ["opens", "says", "unmatched", "gone"];
/** Raised by a later delivery, after the task was closed. */
const later = ["again"];
const raised: Readonly<Record<string, Partial<RaiseTask>>> = {
  opens: { attaches },
  says: { say: "still there" },
  unmatched: { opens: null, marks: [{ kind: "issue", value: "acme/app#8" }] },
  gone: { opens: { ...opens, lineId: "line_9" }, marks: [{ kind: "issue", value: "acme/app#9" }] },
  again: { opens: { ...opens, title: "It breaks again" } },
};

const answers = table<TaskRaised>("test-answer");
const senderRef = reference<Go | TaskRaised>("test-sender");

function raise(turn: Turn, keys: readonly string[]): void {
  const { partition, id: deliveryId } = turn.self;
  for (const key of keys) {
    turn.send(teamMarksRef(partition, teamId), {
      type: "task.raise",
      deliveryId,
      key,
      integration: { id: "int_1", key: "tracker" },
      say: "",
      opens,
      branch: null,
      marks: [issue],
      channel: null,
      attaches: null,
      causes: [],
      answerTo: senderRef(partition, deliveryId),
      ...raised[key],
    });
  }
}

/** Sends the requested raises, and records each answer. */
const sender = defineActor(senderRef, {
  version: 1,
  machine: setup({ types: { events: {} as Delivered<Go | TaskRaised> } }).createMachine({
    initial: "up",
    states: {
      up: {
        on: {
          go: { actions: ({ event }) => raise(event.turn, event.keys) },
          "task.raised": {
            actions: ({ event: { turn, ...answer } }) =>
              answers.put(turn, turn.self.partition, turn.newId("a"), answer),
          },
        },
      },
    },
  }),
});

const actors = [...createActorTypes(createKinds({ allowList: parseAllowList(""), signsTokens: false })), sender];
const effects = [
  INTEGRATION_REQUEST.implement(plainLane(100), async ({ values }) =>
    values.includes("gone")
      ? result({ success: false, code: "rejected", reason: "it responded 404" })
      : result({ file: { bytes: Buffer.from("hello"), type: "text/plain" } }),
  ),
];

async function open(): Promise<Harness> {
  const harness = new Harness({ catalogue: { actors, effects }, limits: { turnsPerBatch: 1 } });
  const rows = memoryRows();
  putLine(rows);
  putTeam(rows);
  const changes = rows.range({ prefix: [] }).map(({ key, value }) => ({ op: "put" as const, key, value }));
  const stored = harness.disk.open().commit(changes);
  await harness.advance();
  await stored;
  await harness.start();
  return harness;
}

/** Runs the scenario. After a kill, runs the whole scenario again. */
async function drive(harness: Harness): Promise<void> {
  const tell = (id: string, keys: readonly string[]) =>
    void harness.runtime.ask(senderRef(workspaceId, id), { type: "go", keys }).catch(() => undefined);
  tell("dlv_1", first);
  await harness.advance(400);
  const [task] = tasks.list(harness.durable, workspaceId);
  const idempotency = { scope: "usr_1", key: "close", digest: "d" };
  const close = { type: "task.close", by: "usr_1", idempotency } as const;
  if (task !== undefined) harness.runtime.ask(taskRef(workspaceId, task.id), close).catch(() => undefined);
  await harness.advance(200);
  tell("dlv_2", later);
  await harness.advance(300);
}

function listWrong(harness: Harness): readonly string[] {
  const rows = harness.durable;
  const [task, again, ...more] = tasks.list(rows, workspaceId);
  const titles = [task, again, ...more].map((each) => `${each?.title} ${each?.state}`);
  const notes = taskNotes.list(rows, workspaceId, [task?.id ?? ""]).map(({ text }) => text);
  const files = taskAttachments.list(rows, workspaceId, [task?.id ?? ""]);
  const [kept] = files;
  const told = answers.list(rows, workspaceId).map(({ key, outcome, taskId }) => `${key} ${outcome} ${taskId}`);
  const left = [effectSpace, undeliveredSpace].flatMap((space) => rows.range({ prefix: [workspaceId, space] }));
  const expected: readonly (readonly [string, unknown, unknown])[] = [
    ["tasks", titles, ["It breaks closed", "It breaks again queued"]],
    ["notes", notes.toSorted(), ["The attachment gone.txt could not be fetched: it responded 404.", "still there"]],
    ["files", files.map(({ name, state }) => `${name} ${state}`), ["a.txt stored", "gone.txt failed"]],
    ["bytes", Buffer.from(findBlob(rows, workspaceId, kept?.digest ?? "") ?? []).toString(), "hello"],
    ["marks", taskMarks.list(rows, workspaceId).map(({ taskId }) => taskId), [again?.id]],
    ["raises that wait", taskRaises.list(rows, workspaceId).filter(({ waiting }) => waiting !== null).length, 0],
    [
      "answers",
      [...new Set(told)].toSorted(),
      [
        ...[`again opened ${again?.id}`, "gone failed null", `opens opened ${task?.id}`],
        ...[`says said ${task?.id}`, "unmatched unmatched null"],
      ],
    ],
    ["rows left", left.length, 0],
  ];
  return expected.flatMap(([what, found, wanted]) =>
    JSON.stringify(found) === JSON.stringify(wanted) ? [] : [`${what}: ${JSON.stringify(found)}`],
  );
}

t.test("what is raised is done once and answered the same, whatever commit of it is killed", async (t) => {
  const calm = await open();
  const before = calm.batches.length;
  await drive(calm);
  t.same(listWrong(calm), []);
  const commits = calm.batches.length - before;
  t.ok(commits >= 10, `${commits} commits`);
  const wrong: string[] = [];
  for (let commit = 1; commit <= commits; commit++) {
    for (const when of ["before", "after"] as const) {
      const harness = await open();
      harness.killAt = { commit: harness.batches.length + commit, when };
      await drive(harness);
      harness.killAt = null;
      harness.crash();
      await harness.start();
      await drive(harness);
      wrong.push(...listWrong(harness).map((what) => `killed ${when} commit ${commit}: ${what}`));
    }
  }
  t.same(wrong, []);
});
