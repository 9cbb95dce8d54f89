import t from "tap";
import { type ArchiveRow, toArchiveId } from "../../../actors/archives/archive.js";
import { archives } from "../../../actors/archives/archive.table.js";
import { listLatestNotes } from "../../../actors/tasks/task.table.js";
import { base, SteppedWork } from "../../support/stepped-work.js";
import { workspaceId } from "../../support/work.js";

/** The effects of a run's final report on other actors. */

const report = { type: "run.ended", ending: null, failure: null, checkouts: [], check: null, spent: null };

t.test("what a runner remarks on a run is noted on its task once, before the end, however it ended", async (t) => {
  for (const outcome of ["completed", "failed", "stopped"]) {
    const work = new SteppedWork();
    work.claim();
    work.say({ type: "run.started" });
    const remarks = ["Not among the changes: a", "Nothing changed."];
    const { sent } = work.say({ ...report, outcome, remarks });
    t.same(
      sent.filter(({ to }) => to.kind === "task").map(({ message }) => message.type),
      ["note", "note", "run.over"],
    );
    const notes = () => listLatestNotes(work.rows, workspaceId, "task_1").map(({ from, text }) => ({ from, text }));
    t.same(
      notes(),
      remarks.map((text) => ({ from: "service", text })),
    );
  }
});

t.test("a commit that a branch held is looked for where a run could not check it out, and only then", async (t) => {
  const commit = base("b");
  const id = toArchiveId("acme/app", commit);
  const looked = (code: string, standing: ArchiveRow["standing"]) => {
    const work = new SteppedWork();
    work.claim();
    work.complete("review");
    t.equal(work.bases()["acme/app"], commit);
    const row = { id, repository: "acme/app", commit, standing, refusal: null, pendingSinceMs: null, pack: null };
    archives.insert(work.rows, workspaceId, row);
    work.claim();
    const { sent } = work.say({ ...report, outcome: "failed", failure: { code, message: "", output: "" } });
    return sent.filter(({ to }) => to.kind === "archive").map(({ to, message }) => `${to.id} ${message.type}`);
  };
  t.same(looked("checkout-failed", "served"), [`${id} archive.look`]);
  t.same(looked("setup-failed", "served"), []);
  for (const standing of ["pending", "kept", "refused"] as const) t.same(looked("checkout-failed", standing), []);
});
