import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { faultOfPack } from "../../../../actors/archives/classify-archive.js";
import { CHUNK_BYTES } from "../../../../actors/archives/pack.js";
import { ArchiveCache } from "../../../../http/runner/archives/archive-cache.js";
import { makePack } from "../../../../http/runner/archives/make-pack.js";
import { createCheckout, type RestoreCommit } from "../../../../http/runner/checkout/checkout.js";
import { Mirrors } from "../../../../http/runner/checkout/mirrors.js";
import { clearLeftovers } from "../../../../http/runner/checkout/work-folder.js";
import { listChunks, makeCommit, toPack } from "../../../actors/archives/archive-scene.js";
import { inRepository } from "../../../support/repository.js";
import { changeScene, listPaths, put } from "../changes/change-scene.js";
import { readChanges } from "../read-changes.js";

const { signal } = new AbortController();
const made = makeCommit({ "a.txt": "one\n", "b.bin": randomBytes(CHUNK_BYTES) });
const claim = { runId: "run_1", fence: 1 };

/** Returns a cache whose service has one pack, and a bare repository to restore into. */
function scene(t: Test, bytes: Buffer, { maxBytes = 100 * CHUNK_BYTES, digest = toPack(bytes).digest } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-cache-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const fetched: number[] = [];
  const cache = new ArchiveCache({
    workFolder: folder,
    maxBytes,
    client: {
      get: async (_id, n) => {
        fetched.push(n);
        return listChunks(bytes)[n] ?? Buffer.alloc(0);
      },
    },
  });
  let records = 0;
  const restore = async (commit: string, id = "arc_1") => {
    records += 1;
    const record = join(folder, `record-${records}`);
    mkdirSync(record);
    inRepository(record, "init", "--quiet", "--bare");
    await cache.restoreInto(record, { archive: { id, bytes: bytes.length, digest }, commit, claim }, signal);
    return record;
  };
  const restoreInto: RestoreCommit = (record, stored) => cache.restoreInto(record, { ...stored, claim }, signal);
  return { folder, fetched, restore, restoreInto, kept: () => readdirSync(join(folder, "archives")) };
}

/** Returns a pack of git objects. `make` fills a repository, and returns the ids of the objects to pack. */
function readPack(make: (git: (...args: string[]) => string, folder: string) => readonly string[]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-hostile-"));
  try {
    const git = (...args: string[]) => inRepository(folder, ...args).trim();
    git("init", "--quiet");
    const input = `${make(git, folder).join("\n")}\n`;
    return execFileSync("git", ["pack-objects", "--stdout", "--quiet"], { cwd: folder, input });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

t.test("a pack is fetched once, verified, and gives the commit without what came before", async (t) => {
  const { restore, fetched, kept } = scene(t, made.bytes);
  const [first, second] = await Promise.all([restore(made.commit), restore(made.commit)]);
  t.same(fetched, [0, 1]);
  for (const record of [first, second]) {
    t.equal(inRepository(record, "log", "--format=%H", made.commit).trim(), made.commit);
    t.equal(inRepository(record, "show", `${made.commit}:a.txt`), "one\n");
    t.equal(inRepository(record, "fsck", "--no-dangling", "--no-progress").trim(), "");
  }
  t.equal(kept().length, 1);
});

t.test("a pack that is damaged, of something else, or more than the commit, is never used", async (t) => {
  const head = (git: (...args: string[]) => string) => git("rev-parse", "HEAD");
  const fill = (git: (...args: string[]) => string, folder: string) => {
    writeFileSync(join(folder, "a.txt"), "one\n");
    git("add", ".");
    git("commit", "--quiet", "-m", "One");
    const listed = git("rev-list", "--objects", "--no-walk", "HEAD").split("\n");
    return listed.map((line) => line.slice(0, 40));
  };
  let commit = "";
  const extra = readPack((git, folder) => {
    const objects = fill(git, folder);
    commit = head(git);
    writeFileSync(join(folder, "evil"), "other\n");
    return [...objects, git("hash-object", "-w", "evil")];
  });
  let withoutBlob = "";
  const lacking = readPack((git, folder) => {
    const objects = fill(git, folder);
    withoutBlob = head(git);
    return objects.slice(0, 2);
  });
  let swapped = "";
  const exchanged = readPack((git, folder) => {
    const objects = fill(git, folder);
    swapped = head(git);
    writeFileSync(join(folder, "evil"), "other\n");
    return [...objects.slice(0, 2), git("hash-object", "-w", "evil")];
  });
  const flipped = Buffer.from(made.bytes);
  flipped[2_000] = (flipped[2_000] ?? 0) ^ 255;
  for (const [name, bytes, of] of [
    ["another object beside", extra, commit],
    ["without a file", lacking, withoutBlob],
    ["another file instead", exchanged, swapped],
    ["a different commit", made.bytes, made.parent],
    ["a changed byte", flipped, made.commit],
    ["noise", randomBytes(5_000), made.commit],
    ["half of it", made.bytes.subarray(0, 5_000), made.commit],
  ] as const) {
    const { restore, kept } = scene(t, bytes);
    const problem = {
      name: "GitFailed",
      message: /does not contain the commit: remove its runs from their replay sets/,
    };
    await t.rejects(restore(of), problem, name);
    t.same(kept(), [], `${name}: nothing of it stays`);
  }
});

t.test("a chunk that is cut short, or a digest that is another, ends it before git reads anything", async (t) => {
  const other = scene(t, made.bytes, { digest: "0".repeat(64) });
  await t.rejects(other.restore(made.commit), /its digest does not match/);
  const pack = toPack(made.bytes);
  const cut = new ArchiveCache({ workFolder: other.folder, client: { get: async () => Buffer.alloc(10) } });
  const wanted = { archive: { id: "arc_1", ...pack }, commit: made.commit, claim };
  await t.rejects(cut.restoreInto(other.folder, wanted, signal), /truncated/);
  const huge = { archive: { id: "arc_1", bytes: 2 ** 40, digest: pack.digest }, commit: made.commit, claim };
  await t.rejects(cut.restoreInto(other.folder, huge, signal), /larger than packs can be/);
});

t.test(
  "a commit of odd paths is packed and checked out from its pack, and what changed there is carried on",
  async (t) => {
    const files = { "a.txt": "one\r\n", ".gitattributes": "*.txt text\n", "new\nline": "two\n", "sub/git": "three\n" };
    const scenery = changeScene(t, files);
    symlinkSync("/nowhere", join(scenery.repository, "link"));
    const latin = Buffer.concat([Buffer.from(`${scenery.repository}/`), Buffer.from([0xe9])]);
    writeFileSync(latin, "four\n");
    const gitlink = `160000,${"1".repeat(40)},module`;
    scenery.git("add", ".");
    scenery.git("update-index", "--add", "--cacheinfo", gitlink);
    scenery.git("commit", "--quiet", "-m", "Odd");
    const commit = scenery.git("rev-parse", "HEAD").trim();
    const file = join(scenery.folder, "pack");
    const pack = await makePack({ mirror: scenery.repository, commit, file, signal });
    const bytes = readFileSync(file);
    t.equal(faultOfPack(bytes, commit), null);
    const { restoreInto } = scene(t, bytes);
    const mirrors = new Mirrors({
      workFolder: join(scenery.folder, "empty"),
      gitUrl: join(scenery.folder, "gone/{name}"),
    });
    const wanted = { repository: "acme/app", setup: null, image: null, base: commit, diff: "" };
    const lay = (name: string, diff: string) =>
      createCheckout(
        mirrors,
        { ...wanted, diff, archive: { id: "arc_1", bytes: pack?.bytes ?? 0, digest: pack?.digest ?? "" } },
        {
          folder: join(scenery.folder, name),
          record: join(scenery.folder, `${name}.record`),
          signal,
          restore: restoreInto,
        },
      );
    const checkout = await lay("first", "");
    t.equal(await readChanges(checkout), "", "untouched, whatever attributes say");
    put(checkout.folder, "inner/f.txt", "five\n");
    inRepository(join(checkout.folder, "inner"), "init", "--quiet");
    rmSync(join(checkout.folder, "new\nline"));
    const diff = await readChanges(checkout);
    t.same(listPaths(diff), ["inner/f.txt", "new\\nline"]);
    t.equal(await readChanges(await lay("second", diff)), diff);
  },
);

t.test("a pack that unfolds to more than git may hold ends there", async (t) => {
  const size = 5 * 1024 ** 3;
  const header = Buffer.alloc(12);
  header.write("PACK");
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(1, 8);
  const head: number[] = [];
  let rest = Math.floor(size / 16);
  // The object in the pack is a tree, because git loads a tree completely into memory.
  head.push((2 << 4) | (size % 16) | 128);
  for (; rest > 0; rest = Math.floor(rest / 128)) head.push((rest % 128) | (rest >= 128 ? 128 : 0));
  const { restore, kept } = scene(t, Buffer.concat([header, Buffer.from(head), randomBytes(5_000)]));
  await t.rejects(restore(made.commit), { name: "GitFailed" });
  t.same(kept(), []);
});

t.test("packs beyond the bound are removed, those used longest ago first; who uses one keeps it", async (t) => {
  const { restore, folder, kept } = scene(t, made.bytes, { maxBytes: Math.ceil(made.bytes.length * 2.5) });
  const first = await restore(made.commit, "arc_1");
  await restore(made.commit, "arc_2");
  for (const [index, name] of kept().sort().entries()) utimesSync(join(folder, "archives", name), index, index);
  await restore(made.commit, "arc_1");
  await restore(made.commit, "arc_3");
  t.same(
    kept()
      .map((name) => name.slice(0, 5))
      .sort(),
    ["arc_1", "arc_3"],
  );
  rmSync(join(folder, "archives"), { recursive: true });
  t.equal(inRepository(first, "show", `${made.commit}:a.txt`), "one\n");
  t.notOk(existsSync(join(folder, "archives")));
});

t.test("what a killed runner had half of is removed by the next, and nothing else", async (t) => {
  const { restore, folder, kept } = scene(t, made.bytes);
  await restore(made.commit);
  const whole = kept();
  mkdirSync(join(folder, "archives/arc_2-0.part"));
  writeFileSync(join(folder, "archives/arc_3.sending"), "half");
  await clearLeftovers(folder);
  t.same(kept(), whole);
});
