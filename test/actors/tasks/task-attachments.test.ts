import t from "tap";
import type { IntegrationRequestResult } from "../../../actors/integrations/requests/integration-request.js";
import { findBlob } from "../../../actors/tables/blobs.js";
import { taskAttachments, tasks } from "../../../actors/tasks/task.table.js";
import { toAttachmentName, toFreeName, toMediaType } from "../../../actors/tasks/task-attachment.js";
import { taskAttachmentsActor } from "../../../actors/tasks/task-attachments.machine.js";
import { taskRunOwner } from "../../../actors/tasks/task-run-owner.js";
import type { RaisedFile } from "../../../actors/tasks/team-marks.messages.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { memoryRows, stepByHand } from "../../support/turn.js";
import { lineId, putLine, teamId, workspaceId } from "../../support/work.js";

const taskId = "task_1";
const MIB = 1024 * 1024;

function createAttachments() {
  const rows = memoryRows();
  putLine(rows);
  rows.put(tasks.key(workspaceId, taskId), {
    id: taskId,
    teamId,
    lineId,
    title: "",
    description: "",
    url: "",
    marks: {},
  });
  const stepping = stepByHand(taskAttachmentsActor, address(workspaceId, "task-attachments", taskId), { rows });
  const list = () => taskAttachments.list(rows, workspaceId, [taskId]);
  const attach = (files: readonly Partial<RaisedFile>[], key = "dlv_1/0/0", left = 0) => {
    const full = files.map((file, n) => ({
      name: `f${n}`,
      type: null,
      size: null,
      file: JSON.stringify({ n }),
      ...file,
    }));
    const of = { source: "webhook", event: 0, values: '{"headers":{}}', bodyDigest: "d1", files: full, left };
    return stepping.take({ type: "files.attach", key, teamId, integrationId: "int_1", attaches: of } as Message);
  };
  const end = (id: string, output: Partial<IntegrationRequestResult>) =>
    stepping.take({ type: "effect.ended", effect: "integration-request", id, result: { ok: true, output } } as Message);
  const bring = (id: string, bytes: Uint8Array) =>
    end(id, { success: true, file: { bytes, type: "text/plain; charset=utf-8" } });
  const notes = (taken: ReturnType<typeof attach>) =>
    taken.sent.flatMap(({ message }) => ("text" in message ? [String(message.text)] : []));
  return { rows, list, attach, end, bring, notes };
}

t.test("each file is asked for by the event's request, stored, and given to runs by its digest", async (t) => {
  const { rows, list, attach, bring } = createAttachments();
  const { started } = attach([{ name: "../../logs/a.txt" }, { name: "a.txt", type: "text/csv" }]);
  t.match(
    started.map(({ input }) => input),
    [
      {
        teamId,
        integrationId: "int_1",
        block: { kind: "attachment", source: "webhook", event: 0 },
        bodyDigest: "d1",
        values: '{"headers":{},"file":{"n":0}}',
        actsAs: { kind: "team" },
        again: "after-a-crash",
      },
      { values: '{"headers":{},"file":{"n":1}}' },
    ],
  );
  t.match(list(), [
    { name: "a.txt", state: "waiting" },
    { name: "a-2.txt", state: "waiting" },
  ]);
  const [first = "", second = ""] = list().map(({ id }) => id);
  t.notOk(bring(second, Buffer.from("two")).stopped);
  t.ok(bring(first, Buffer.from("one")).stopped, "ends with the last");
  const [one, two] = list();
  t.match(
    [one, two],
    [
      { state: "stored", type: "text/plain", bytes: 3 },
      { state: "stored", type: "text/csv" },
    ],
  );
  t.equal(Buffer.from(findBlob(rows, workspaceId, one?.digest ?? "") ?? []).toString(), "one");
  const brief = taskRunOwner.brief?.(rows, workspaceId, { id: "run_1", owner: { kind: "task", id: taskId } });
  t.match(brief?.attachments, [
    { name: "a.txt", digest: one?.digest },
    { name: "a-2.txt", bytes: 3 },
  ]);
});

t.test("what could not be fetched is a line on the task, and no file of its runs", async (t) => {
  const { list, attach, end, notes, rows } = createAttachments();
  const tooLarge = attach([{ name: "big.bin", size: 11 * MIB }, { name: "gone.txt" }]);
  t.same(notes(tooLarge), ["The attachment big.bin could not be fetched: it is larger than 10 MiB."]);
  t.equal(tooLarge.started.length, 1);
  const gone = end(list()[1]?.id ?? "", { success: false, code: "rejected", reason: "it responded 404" });
  t.same(notes(gone), ["The attachment gone.txt could not be fetched: it responded 404."]);
  t.same(
    list().map(({ state, reason }) => [state, reason]),
    [
      ["failed", "it is larger than 10 MiB"],
      ["failed", "it responded 404"],
    ],
  );
  const brief = taskRunOwner.brief?.(rows, workspaceId, { id: "run_1", owner: { kind: "task", id: taskId } });
  t.equal(brief?.attachments, undefined);
});

t.test("an event attaches 20 files and 50 MiB at most, a task 200 files", async (t) => {
  const { list, attach, bring, notes } = createAttachments();
  t.same(notes(attach(Array.from({ length: 23 }, () => ({})))), [
    "3 files were not attached: an event attaches 20 at most.",
  ]);
  t.equal(list().length, 20);
  const bytes = new Uint8Array(10 * MIB);
  for (const [n, { id }] of list().slice(0, 6).entries()) {
    const told = notes(bring(id, bytes));
    t.same(
      told,
      n < 5 ? [] : ["The attachment f5 could not be fetched: the files of one event are limited to 50 MiB."],
    );
  }
  for (let event = 1; event < 10; event++)
    attach(
      Array.from({ length: 20 }, () => ({})),
      `dlv_1/${event}/0`,
    );
  t.same(notes(attach([{}], "dlv_2/0/0")), ["1 file was not attached: a task has 200 at most."]);
  t.equal(list().length, 200);
});

t.test("files that an event has beyond 20 are on the task as one line", async (t) => {
  const { attach, notes } = createAttachments();
  const files = Array.from({ length: 20 }, () => ({}));
  t.same(notes(attach(files, "dlv_1/0/0", 33)), ["33 files were not attached: an event attaches 20 at most."]);
});

t.test("for a task that is gone nothing is fetched", async (t) => {
  const { rows, attach, list } = createAttachments();
  rows.remove(tasks.key(workspaceId, taskId));
  const taken = attach([{}]);
  t.same([taken.stopped, taken.started, list()], [true, [], []]);
});

t.test("a name is a file's name alone, free in its task", async (t) => {
  const cases: Record<string, string> = {
    "../../etc/passwd": "passwd",
    "C:\\temp\\a.txt": "a.txt",
    "..": "file",
    "": "file",
    ".env": "env",
    "a\u202egpj.exe\n": "agpj.exe",
    'x<>:"|?*.md': "x.md",
  };
  for (const [from, to] of Object.entries(cases)) t.equal(toAttachmentName(from), to, JSON.stringify(from));
  const long = toAttachmentName(`${"ü".repeat(200)}.txt`);
  t.ok(Buffer.byteLength(long) <= 120 && long.endsWith("ü.txt"));
  t.equal(toFreeName("A.txt", ["a.TXT", "a-2.txt"]), "A-3.txt");
  t.same(["text/HTML; charset=x", "no type", null].map(toMediaType), [
    "text/html",
    "application/octet-stream",
    "application/octet-stream",
  ]);
});
