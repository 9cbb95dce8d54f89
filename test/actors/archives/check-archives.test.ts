import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { toArchiveId } from "../../../actors/archives/archive.js";
import { archiveActor } from "../../../actors/archives/archive.machine.js";
import { archiveChunks, archiveHolds, archiveUsage, TOTAL_BYTES } from "../../../actors/archives/archive.table.js";
import { checkArchives } from "../../../actors/archives/check-archives.js";
import { CHUNK_BYTES } from "../../../actors/archives/pack.js";
import { address } from "../../../runtime/cells/address.js";
import { compactStore } from "../../../storage/compaction.js";
import { openLmdbStore } from "../../../storage/lmdb-store.js";
import type { Change, Key, Store } from "../../../storage/store.js";
import { storeWith } from "../../support/migrating.js";
import { stepByHand } from "../../support/turn.js";
import { listChunks, makeCommit, toPack } from "./archive-scene.js";

const workspaceId = "ws_1";
const repository = "acme/app";
const { commit, bytes } = makeCommit({ "a.bin": randomBytes(CHUNK_BYTES) });
const id = toArchiveId(repository, commit);

/** Returns a store with an archived commit. */
async function storeWithArchive(): Promise<Store> {
  const actor = stepByHand(archiveActor({ bytesPerWorkspace: 10 * CHUNK_BYTES }), address(workspaceId, "archive", id));
  actor.take({ type: "archive.hold", holder: "set_1/run_1", repository, commit } as { type: string });
  const say = (message: object) => actor.take({ runnerId: "r1", ...message } as unknown as { type: string });
  say({ type: "archive.take" });
  say({ type: "archive.offer", pack: toPack(bytes) });
  for (const [n, chunk] of listChunks(bytes).entries()) say({ type: "archive.chunk", n, chunk });
  return storeWith(actor.rows.range({ prefix: [workspaceId] }));
}

/**
 * Makes the change, unless it is null. Then examines and repairs the store. Returns the findings before and after the
 * repair.
 */
async function examine(change: Change | null) {
  const store = await storeWithArchive();
  if (change !== null) await store.commit([change]);
  const found = [...checkArchives(store.reading)];
  await store.commit(found.flatMap(({ repair }) => repair));
  const left = [...checkArchives(store.reading)];
  return [found.map(({ what }) => what), left.map(({ what }) => what)];
}

const remove = (key: Key): Change => ({ op: "remove", key });
const put = (key: Key, value: unknown): Change => ({ op: "put", key, value });

t.test("archives that were left as they are to be are whole", async (t) => {
  t.same(await examine(null), [[], []]);
});

t.test("a pack that lacks a chunk is found, and cannot be repaired", async (t) => {
  const lacking = ["an archived commit lacks chunks: restore them from a backup"];
  t.same(await examine(remove(archiveChunks.key(workspaceId, id, 0))), [lacking, lacking]);
});

t.test("what has no archive is found and removed, and a wrong room is put right", async (t) => {
  const chunk = archiveChunks.key(workspaceId, "arc_other", 0);
  t.same(await examine(put(chunk, Buffer.from("x"))), [["chunks of archives: without an archive"], []]);
  const held = archiveHolds.key(workspaceId, "arc_other", "set_1/run_1");
  t.same(await examine(put(held, true)), [["holds of archives: without an archive"], []]);
  const room = archiveUsage.key(workspaceId, TOTAL_BYTES);
  for (const wrong of [put(room, 5), remove(room)]) {
    t.same(await examine(wrong), [["archive usage differs from the size of the packs"], []]);
  }
});

t.test("a pack is in backups, and in a store that was made smaller", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-archives-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const entries = (await storeWithArchive()).reading.range({ prefix: [workspaceId] });
  const data = join(folder, "data");
  const store = await openLmdbStore({ folder: data });
  await store.commit(entries.map(({ key, value }) => put(key, value)));
  await store.backup(join(folder, "backup"));
  await store.close();
  await compactStore({ folder: data });
  for (const each of ["backup", "data"]) {
    const copy = await openLmdbStore({ folder: join(folder, each), readOnly: true });
    t.same([...checkArchives(copy.reading)], []);
    t.same(Buffer.concat(archiveChunks.list(copy.reading, workspaceId, [id])), bytes, each);
    await copy.close();
  }
});
