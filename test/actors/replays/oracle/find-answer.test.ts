import t from "tap";
import { findAnswer } from "../../../../actors/replays/oracle/find-answer.js";
import { runCheckouts } from "../../../../actors/runs/run.table.js";
import { getText } from "../../../../actors/tables/text-blobs.js";
import type { Message } from "../../../../runtime/turns/turn.js";
import { base, SteppedWork } from "../../../support/stepped-work.js";
import { workspaceId } from "../../../support/work.js";

/** A task whose runs each leave a different change. */
class Scene extends SteppedWork {
  /** Ends the current run with this change; returns the run's id. */
  leave(text: string, to: string | null, note = ""): string {
    const { runId } = this;
    this.now += 1_000;
    this.claim();
    this.say({ type: "run.started" });
    const checkouts = [{ repository: "acme/app", base: base("b"), diff: text }];
    const left = { failure: null, checkouts, check: null, spent: null };
    this.now += 1_000;
    if (to !== null) this.handOver(to);
    const ending = to === null ? { kind: "finish", note } : { kind: "handover", to, note };
    this.say({ type: "run.ended", outcome: "completed", ending, ...left });
    return runId;
  }

  handOver(to: string): void {
    const [question] = this.say({ type: "run.handover", id: "1-1", to, note: "" }).questions;
    this.run().take({ type: "gate.answered", gate: "handover.giving", id: question?.id, refused: null } as Message);
  }

  /** Returns the answer for a run, with its diffs as text; null if the run has no answer. */
  answer(runId: string) {
    const found = findAnswer(this.rows, workspaceId, runId);
    const accepted = found?.accepted.map(({ digest }) => getText(this.rows, workspaceId, digest));
    return found === null ? null : { note: found.note, accepted };
  }
}

t.test("an accepted run is answered by its own change", async (t) => {
  const scene = new Scene();
  const work = scene.leave("the change\n", "review", "Look at it.");
  t.equal(scene.answer(work), null, "nothing is accepted yet");
  const review = scene.leave("the change, looked at\n", null);
  t.same(scene.answer(work), { note: null, accepted: ["the change\n"] });
  t.same(scene.answer(review), { note: null, accepted: ["the change, looked at\n"] });
});

t.test("a run that was sent back is answered by the note, and by the change that was accepted later", async (t) => {
  const scene = new Scene();
  const first = scene.leave("first\n", "review", "Look at it.");
  scene.leave("first\n", "work", "It lacks a title.");
  t.same(scene.answer(first), { note: "It lacks a title.", accepted: [] });
  const second = scene.leave("second\n", "review", "With a title.");
  t.same(scene.answer(first), { note: "It lacks a title.", accepted: [] });
  scene.leave("second\n", "work", "The title is too long.");
  const third = scene.leave("third\n", "review", "A shorter one.");
  scene.leave("third\n", null);
  t.same(scene.answer(first), { note: "It lacks a title.", accepted: ["third\n"] });
  t.same(scene.answer(second), { note: "The title is too long.", accepted: ["third\n"] });
  t.same(scene.answer(third), { note: null, accepted: ["third\n"] });
});

t.test("a person's note counts as why it was sent back; one of a hook, or of its own station, does not", async (t) => {
  const scene = new Scene();
  const first = scene.leave("first\n", "review", "Look at it.");
  scene.tell({ type: "note", from: "person usr_1", text: "Not like that.", key: null } as Message);
  scene.tell({ type: "note", from: "hook tell", text: "told", key: null } as Message);
  scene.leave("first\n", "work");
  t.same(scene.answer(first), { note: "Not like that.", accepted: [] });
});

t.test("runs that asked, failed, changed nothing or do not exist have no answer", async (t) => {
  const scene = new Scene();
  const { runId } = scene;
  scene.claim();
  scene.say({ type: "run.started" });
  const left = { ending: null, failure: null, checkouts: [], check: null, spent: null };
  scene.say({ type: "run.ended", outcome: "failed", ...left });
  t.equal(scene.answer(runId), null);
  t.equal(scene.answer("run_9"), null);
  const other = new Scene();
  const work = other.leave("", "review");
  other.leave("", null);
  t.same(
    runCheckouts.list(other.rows, workspaceId, [work]).map(({ digest }) => digest),
    [null],
  );
  t.equal(other.answer(work), null);
});
