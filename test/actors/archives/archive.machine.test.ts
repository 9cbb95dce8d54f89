import { randomBytes } from "node:crypto";
import t from "tap";
import { toArchiveId } from "../../../actors/archives/archive.js";
import { archiveActor } from "../../../actors/archives/archive.machine.js";
import { findKeeping, findRefusal, findStoredPack, listWanted } from "../../../actors/archives/archive.queries.js";
import { archiveChunks, archives, archiveUsage, TOTAL_BYTES } from "../../../actors/archives/archive.table.js";
import { CHUNK_BYTES, MAX_PACK_BYTES } from "../../../actors/archives/pack.js";
import { runners } from "../../../actors/runners/runner.table.js";
import { address } from "../../../runtime/cells/address.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { stepByHand, type TurnTaken } from "../../support/turn.js";
import { listChunks, makeCommit, toPack } from "./archive-scene.js";

const workspaceId = "ws_1";
const repository = "acme/app";
const made = makeCommit({ "a.bin": randomBytes(CHUNK_BYTES + 1_000) });
const { commit } = made;
const id = toArchiveId(repository, commit);
const DAY_MS = 24 * 60 * 60 * 1_000;
const HOUR_MS = 60 * 60 * 1_000;

/** An archive that the tests step by hand. Its only holder at the start is `set_1`. */
class SteppedArchive {
  readonly actor;
  readonly rows;
  first: TurnTaken;

  constructor(bytesPerWorkspace = 10 * CHUNK_BYTES, rows = {}) {
    this.actor = stepByHand(archiveActor({ bytesPerWorkspace }), address(workspaceId, "archive", id), rows);
    this.rows = this.actor.rows;
    this.first = this.hold("set_1");
  }

  hold(holder: string): TurnTaken {
    return this.tell({ type: "archive.hold", holder, repository, commit });
  }

  tell(message: Message & Readonly<Record<string, unknown>>): TurnTaken {
    return this.actor.take(message);
  }

  by(runnerId: string, message: Message & Readonly<Record<string, unknown>>): unknown {
    return this.tell({ runnerId, ...message }).answer;
  }

  wake(name: "ask" | "silent", ms = 0): TurnTaken {
    this.actor.now += ms;
    return this.tell({ type: "woken", name, dueMs: this.actor.now });
  }

  /**
   * Sends the commit's pack as runner `r1`: takes the archive, offers the pack, and sends at most `upTo` of the pack's
   * chunks. Returns the results.
   */
  send(bytes: Buffer, upTo = 100): unknown[] {
    const chunks = listChunks(bytes).slice(0, upTo);
    return [
      this.by("r1", { type: "archive.take" }),
      this.by("r1", { type: "archive.offer", pack: toPack(bytes) }),
      ...chunks.map((chunk, n) => this.by("r1", { type: "archive.chunk", n, chunk })),
    ];
  }

  get row() {
    return archives.get(this.rows, workspaceId, id);
  }

  get room(): number {
    return archiveUsage.get(this.rows, workspaceId, TOTAL_BYTES) ?? 0;
  }

  get chunks(): number {
    return archiveChunks.list(this.rows, workspaceId, [id]).length;
  }

  get keeping() {
    const commits = [{ repository, commit }];
    const place = [this.rows, workspaceId, commits] as const;
    return [findKeeping(...place), findRefusal(...place)];
  }
}

const refused = { refused: "conflict", detail: String };

t.test("a commit that is needed is asked for, sent in chunks, and kept", async (t) => {
  const archive = new SteppedArchive();
  t.same(archive.first.changes, [
    { topic: `archive-wanted/${workspaceId}`, data: { archiveId: id, repository, commit, runnerId: null } },
  ]);
  t.same(archive.keeping, ["pending", null]);
  t.same(listWanted(archive.rows, workspaceId), [{ archiveId: id, repository, commit }]);
  t.same(archive.send(made.bytes), [{ taken: true }, { received: 0 }, { received: 1 }, { received: 2 }]);
  t.equal(archive.actor.value, "kept");
  t.same(archive.keeping, ["kept", null]);
  t.same(findStoredPack(archive.rows, workspaceId, { repository, commit }), { archiveId: id, ...toPack(made.bytes) });
  t.same(Buffer.concat(archiveChunks.list(archive.rows, workspaceId, [id])), made.bytes);
  t.equal(archive.room, made.bytes.length);
  t.same(listWanted(archive.rows, workspaceId), []);
  t.match(archive.by("r2", { type: "archive.take" }), refused, "nobody looks for it again");
});

t.test("what is sent again changes nothing, and what is out of order is refused", async (t) => {
  const archive = new SteppedArchive();
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = listChunks(made.bytes);
  t.match(archive.by("r1", { type: "archive.chunk", n: 0, chunk: first }), refused, "nobody took it");
  archive.send(made.bytes, 1);
  t.match(archive.by("r1", { type: "archive.chunk", n: 2, chunk: second }), refused);
  t.match(archive.by("r1", { type: "archive.chunk", n: 1, chunk: first }), refused, "another length");
  t.match(archive.by("r2", { type: "archive.chunk", n: 1, chunk: second }), refused, "another runner");
  t.match(archive.by("r2", { type: "archive.take" }), refused);
  t.same(archive.by("r1", { type: "archive.chunk", n: 0, chunk: second }), { received: 1 });
  t.same(archive.by("r1", { type: "archive.offer", pack: toPack(made.bytes) }), { received: 1 }, "it goes on there");
  t.same(archive.by("r1", { type: "archive.chunk", n: 1, chunk: second }), { received: 2 });
  t.same(Buffer.concat(archiveChunks.list(archive.rows, workspaceId, [id])), made.bytes);
});

t.test("the runner that sent a kept pack is answered as the first time, and no other is", async (t) => {
  const archive = new SteppedArchive();
  archive.send(made.bytes);
  const before = JSON.stringify(archive.row);
  const [, last = Buffer.alloc(0)] = listChunks(made.bytes);
  const chunk = { type: "archive.chunk", n: 1, chunk: last };
  const offer = { type: "archive.offer", pack: toPack(made.bytes) };
  t.same(archive.by("r1", chunk), { received: 2 }, "its last chunk again");
  t.same(archive.by("r1", { type: "archive.take" }), { taken: true });
  t.same(archive.by("r1", offer), { received: 2 }, "nothing is left to send");
  for (const message of [chunk, { type: "archive.take" }, offer]) t.match(archive.by("r2", message), refused);
  t.match(archive.by("r1", { ...offer, pack: { ...offer.pack, digest: "0".repeat(64) } }), refused, "another pack");
  t.match(archive.by("r1", { type: "archive.report", found: "missing" }), refused);
  t.match(archive.by("r1", { ...chunk, n: 2 }), refused, "one after the last");
  t.match(archive.by("r1", { ...chunk, n: 0 }), refused, "other bytes");
  t.same([archive.actor.value, JSON.stringify(archive.row), archive.chunks], ["kept", before, 2]);
  t.equal(archive.room, made.bytes.length);
});

t.test("a runner that is silent loses it; what came stays for the same pack, and goes for another", async (t) => {
  const archive = new SteppedArchive();
  archive.send(made.bytes, 1);
  archive.wake("silent", HOUR_MS);
  t.equal(archive.actor.value, "wanted");
  t.same(archive.by("r2", { type: "archive.take" }), { taken: true });
  t.same(archive.by("r2", { type: "archive.offer", pack: toPack(made.bytes) }), { received: 1 });
  const other = { ...toPack(made.bytes), digest: "0".repeat(64) };
  t.same(archive.by("r2", { type: "archive.offer", pack: other }), { received: 0 });
  t.equal(archive.chunks, 0);
  t.equal(archive.room, made.bytes.length, "its room is counted once");
});

t.test("a pack that is not one of the commit, or not the offered one, is refused and leaves nothing", async (t) => {
  const another = makeCommit({ "a.txt": "other\n" });
  const broken = Buffer.from(made.bytes);
  broken[broken.length - 30] = (broken.at(-30) ?? 0) ^ 1;
  for (const [name, offered, sent] of [
    ["a different commit", another.bytes, another.bytes],
    ["noise", randomBytes(1_000), null],
    ["a broken end", made.bytes, broken],
  ] as const) {
    const archive = new SteppedArchive();
    archive.send(offered, 0);
    const answers = listChunks(sent ?? offered).map((chunk, n) =>
      archive.by("r1", { type: "archive.chunk", n, chunk }),
    );
    t.match(answers.at(-1), refused, name);
    t.same([archive.actor.value, archive.chunks, archive.room, archive.row?.pack], ["wanted", 0, 0, null], name);
    t.same(archive.keeping, ["pending", null]);
    archive.send(made.bytes);
    t.equal(archive.actor.value, "kept", `${name}: the true one is taken later`);
  }
});

t.test("a pack has its room first; without, it stays pending and is refused at the end of its time", async (t) => {
  const archive = new SteppedArchive(made.bytes.length - 1);
  t.match(archive.send(made.bytes, 0).at(-1), { refused: "conflict", detail: /cannot store/ });
  t.same([archive.actor.value, archive.room], ["wanted", 0]);
  t.same(archive.keeping, ["pending", null]);
  archive.wake("ask", 7 * DAY_MS);
  t.same(archive.keeping, [null, "archives-full"]);
  const huge = new SteppedArchive(Number.MAX_SAFE_INTEGER);
  huge.by("r1", { type: "archive.take" });
  const pack = { bytes: MAX_PACK_BYTES + 1, digest: "0".repeat(64) };
  t.match(huge.by("r1", { type: "archive.offer", pack }), refused);
  t.same(huge.by("r1", { type: "archive.report", found: "too-large" }), { reported: true });
  t.same(huge.keeping, [null, "archive-too-large"]);
});

t.test("while a branch holds it nothing is kept; when the branch leaves it, it is kept then", async (t) => {
  const archive = new SteppedArchive();
  archive.by("r1", { type: "archive.take" });
  t.same(archive.by("r1", { type: "archive.report", found: "on-branch" }), { reported: true });
  t.same([archive.actor.value, ...archive.keeping], ["served", null, null]);
  t.equal(archive.wake("ask", 6 * HOUR_MS).changes.length, 1, "it is looked at again");
  archive.by("r2", { type: "archive.take" });
  t.same(archive.keeping, [null, null], "meanwhile too");
  archive.by("r2", { type: "archive.report", found: "on-branch" });
  archive.wake("ask", 30 * DAY_MS);
  archive.send(made.bytes, 1);
  t.same(archive.keeping, ["pending", null], "a pack comes");
  archive.send(made.bytes);
  t.same(archive.keeping, ["kept", null]);
});

t.test("a commit that a branch held is looked for at once when a run cannot check it out", async (t) => {
  const archive = new SteppedArchive();
  const look = () => archive.tell({ type: "archive.look" }).changes;
  t.same(look(), [], "it is looked for already");
  archive.by("r1", { type: "archive.take" });
  t.same(look(), [], "a runner looks for it");
  archive.by("r1", { type: "archive.report", found: "on-branch" });
  t.match(look(), [{ topic: `archive-wanted/${workspaceId}`, data: { archiveId: id, runnerId: null } }]);
  t.same([archive.actor.value, ...archive.keeping], ["wanted", "pending", null]);
  archive.wake("ask", 60_000);
  archive.by("r1", { type: "archive.take" });
  archive.by("r1", { type: "archive.report", found: "on-branch" });
  t.same([archive.actor.value, ...archive.keeping], ["served", null, null], "its branch is there after all");
  look();
  archive.send(made.bytes);
  t.same(archive.keeping, ["kept", null]);
  const before = JSON.stringify(archive.row);
  t.same(look(), []);
  t.equal(JSON.stringify(archive.row), before, "a pack that is kept stays");
  archive.tell({ type: "archive.release", holder: "set_1" });
  t.same(look(), [], "nobody needs it any more");
});

t.test("after 7 days without an answer the commit is gone, whatever came of a pack", async (t) => {
  const archive = new SteppedArchive();
  archive.send(made.bytes, 1);
  archive.wake("silent");
  let asked = 0;
  while (archive.actor.value === "wanted" && asked < 1_000) {
    asked += 1;
    archive.wake("ask", HOUR_MS);
  }
  t.equal(asked, 7 * 24);
  t.same([archive.actor.value, archive.chunks, archive.room], ["refused", 0, 0]);
  t.same(archive.keeping, [null, "commit-gone"]);
  t.match(archive.by("r1", { type: "archive.take" }), refused);
  const lost = new SteppedArchive();
  lost.by("r1", { type: "archive.take" });
  lost.by("r1", { type: "archive.report", found: "missing" });
  t.equal(lost.actor.value, "wanted", "one runner that cannot get it is not the end");
});

t.test("each round names another connected runner that knows of commits", async (t) => {
  const archive = new SteppedArchive();
  const runner = (runnerId: string, features: string[], connected = true) =>
    runners.put(archive.rows, workspaceId, runnerId, {
      runnerId,
      poolId: "pool_1",
      name: "",
      labels: [],
      harnesses: [],
      slots: 1,
      since: "",
      features,
      connected,
    });
  runner("r1", ["commits"]);
  runner("r2", []);
  runner("r3", ["commits"]);
  runner("r4", ["commits"], false);
  const named = [1, 2, 3].map(() => archive.wake("ask").changes);
  t.match(
    named,
    ["r1", "r3", "r1"].map((runnerId) => [{ data: { runnerId } }]),
  );
});

t.test("with the last who needs it all of it goes, in every state", async (t) => {
  for (const upTo of [0, 1, 100]) {
    const archive = new SteppedArchive();
    archive.hold("set_2");
    archive.hold("set_2");
    archive.send(made.bytes, upTo);
    archive.tell({ type: "archive.release", holder: "set_1" });
    archive.tell({ type: "archive.release", holder: "set_1" });
    t.ok(archive.row !== undefined, "another needs it");
    t.equal(archive.tell({ type: "archive.release", holder: "set_2" }).stopped, true);
    t.same([archive.row, archive.chunks, archive.room], [undefined, 0, 0]);
    t.same(archive.rows.range({ prefix: [workspaceId, "row"] }), []);
    archive.tell({ type: "archive.release", holder: "set_2" });
    archive.hold("set_3");
    t.same(archive.keeping, ["pending", null], "and begins anew");
  }
});
