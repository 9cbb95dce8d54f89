import { execFile, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { open } from "lmdb";
import t, { type Test } from "tap";
import { restoreBackup } from "../../storage/backup.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { storeError } from "../../storage/store-errors.js";
import { until } from "../support/until.js";

const run = promisify(execFile);
const writer = fileURLToPath(new URL("./writer.js", import.meta.url));

function temporary(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-faults-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

t.test("a writer killed with -9 during its commits leaves every acknowledged batch, and none half", async (t) => {
  const folder = join(temporary(t), "store");
  let last = -1;
  for (let round = 0; round < 3; round++) {
    const child = spawn(process.execPath, [writer, folder], { stdio: ["ignore", "pipe", "pipe"] });
    await new Promise<void>((resolve) => {
      let rest = "";
      child.stdout.on("data", (chunk: Buffer) => {
        const lines = (rest + chunk.toString()).split("\n");
        rest = lines.pop() ?? "";
        const told = lines.at(-1);
        if (told !== undefined) last = Number(told);
        if (last > (round + 1) * 150) child.kill("SIGKILL");
      });
      child.once("close", () => resolve());
    });
    const store = await openLmdbStore({ folder });
    const batches = store.reading.range<number>({ prefix: ["batch"] }).length;
    t.ok(batches > last, `${batches} batches are there, the last one told was ${last}`);
    t.equal(store.reading.range({ prefix: ["row"] }).length, batches * 5, "each with all its rows");
    await store.close();
  }
});

t.test("a full disk fails the commit, keeps the earlier rows, and refuses all later commits", async (t) => {
  const disk = temporary(t);
  const mounted = await run("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", disk]).catch(() => null);
  if (mounted === null) {
    t.comment("skipped: a small disk can only be mounted by a superuser who may mount");
    return;
  }
  t.teardown(() => run("umount", ["-l", disk]));
  const folder = join(disk, "store");
  const ended = await run(process.execPath, [writer, folder, "big"]).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  t.match(ended.stderr, /the disk with .* is full: free disk space .*\(ENOSPC\)/);
  t.match(ended.stderr, /and again: the disk/);
  const told = ended.stdout.trim().split("\n").length;
  const store = await openLmdbStore({ folder });
  const batches = store.reading.range({ prefix: ["batch"] }).length;
  t.ok(batches >= told && told > 0, `${batches} batches are there, ${told} were told of`);
  t.equal(store.reading.range({ prefix: ["row"] }).length, batches * 5);
  await store.close();
});

t.test("a limit on the size of files is called by its name, and keeps what was there", async (t) => {
  const folder = join(temporary(t), "store");
  const limited = `ulimit -f 2048; exec "$0" "$@"`;
  const ended = await run("bash", ["-c", limited, process.execPath, writer, folder, "big"]).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  t.match(ended.stderr, /data\.mdb has reached the file size limit \(EFBIG\): raise the limit/);
  const told = ended.stdout.trim().split("\n").length;
  const store = await openLmdbStore({ folder });
  const batches = store.reading.range({ prefix: ["batch"] }).length;
  t.ok(batches >= told && told > 0, `${batches} batches are there, ${told} were told of`);
  await store.close();
});

t.test("a flush that a signal interrupts is tried again", async (t) => {
  const folder = join(temporary(t), "store");
  const injected = [
    "-f",
    "-qq",
    "-o",
    "/dev/null",
    "-e",
    "trace=fdatasync",
    "-e",
    "inject=fdatasync:error=EINTR:when=3+2",
  ];
  const isThere = await run("strace", [...injected, "true"]).catch(() => null);
  if (isThere === null) {
    t.comment("skipped: there is no strace that may trace");
    return;
  }
  const child = spawn("strace", [...injected, process.execPath, writer, folder], { detached: true });
  const told = await new Promise<number>((resolve) => {
    let rest = "";
    child.stdout.on("data", (chunk: Buffer) => {
      rest += chunk.toString();
      if (rest.split("\n").length > 20) process.kill(-(child.pid ?? 0), "SIGKILL");
    });
    child.once("close", () => resolve(rest.trim().split("\n").length));
  });
  t.ok(told >= 20, `${told} batches were told of`);
  const store = await openLmdbStore({ folder });
  t.ok(store.reading.range({ prefix: ["batch"] }).length >= told);
  await store.close();
});

t.test("a batch queued behind one that did not fit on the disk is refused and not stored", async (t) => {
  const disk = temporary(t);
  const mounted = await run("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", disk]).catch(() => null);
  if (mounted === null) {
    t.comment("skipped: a small disk can only be mounted by a superuser who may mount");
    return;
  }
  t.teardown(() => run("umount", ["-l", disk]));
  const store = await openLmdbStore({ folder: join(disk, "store") });
  await store.commit([{ op: "put", key: ["a", 0], value: "before" }]);
  const tooBig = store.commit([{ op: "put", key: ["a", 1], value: "x".repeat(4_000_000) }]);
  const refused = t.rejects(tooBig, { code: "disk-full" });
  await new Promise(setImmediate);
  await Promise.all([
    refused,
    t.rejects(store.commit([{ op: "put", key: ["a", 2], value: "behind" }]), { code: "disk-full" }),
  ]);
  t.equal(store.reading.range({ prefix: ["a"] }).length, 1);
  await t.rejects(store.backup(join(disk, "copy", "of")), { code: "disk-full" });
  t.notOk(existsSync(join(disk, "copy")), "a backup that failed leaves nothing");
  await store.close();
  const again = await openLmdbStore({ folder: join(disk, "store") });
  t.same(again.reading.range({ prefix: ["a"] }), [{ key: ["a", 0], value: "before" }]);
  await again.close();
});

t.test("a folder that cannot be written is refused as read-only, with what to do", async (t) => {
  const folder = temporary(t);
  const store = join(folder, "store");
  mkdirSync(store);
  for (const path of [store, folder]) chmodSync(path, 0o555);
  t.teardown(() => chmodSync(folder, 0o700));
  for (const path of [store, join(folder, "absent")]) {
    const refused = await run(process.execPath, [writer, path, "small", "unprivileged"]).catch(
      (error: { stderr: string }) => error,
    );
    t.match(refused.stderr, `cannot write to ${path}: give this user write permission there`);
  }
});

t.test("a lock that cannot be taken is called by its name", async (t) => {
  const folder = temporary(t);
  mkdirSync(join(folder, "signalbox.lock"));
  await t.rejects(openLmdbStore({ folder }), {
    code: "failed",
    message: new RegExp(`open '${folder}/signalbox.lock'`),
  });
});

t.test("a folder that is a link to none is refused with what to do, and none is made", async (t) => {
  const folder = temporary(t);
  const link = join(folder, "store");
  symlinkSync(join(folder, "elsewhere"), link);
  for (const path of [link, join(link, "below")]) {
    const message = `${link} is a link to a folder that does not exist: create that folder, or use another path`;
    await t.rejects(openLmdbStore({ folder: path }), { name: "StoreError", code: "failed", message });
  }
  t.same(readdirSync(folder), ["store"]);
  mkdirSync(join(folder, "elsewhere"));
  await (await openLmdbStore({ folder: link })).close();
});

t.test("a place where the system takes no folders is refused at once", async (t) => {
  for (const folder of ["/proc/signalbox", "/proc/signalbox/below"]) {
    const message = "cannot create a folder at /proc/signalbox: use another path";
    await t.rejects(openLmdbStore({ folder }), { name: "StoreError", code: "failed", message });
  }
  const store = await openLmdbStore({ folder: join(temporary(t), "store") });
  await t.rejects(store.backup("/proc/signalbox"), { message: /cannot create a folder at \/proc\/signalbox/ });
  await store.close();
});

t.test("a folder that holds other files and no store is refused and left as it is", async (t) => {
  const folder = temporary(t);
  for (const name of [".profile", "letters"]) writeFileSync(join(folder, name), "mine");
  chmodSync(folder, 0o755);
  const message = /contains other files \(\S+\) and no store; nothing was changed: use a separate folder for the store/;
  await t.rejects(openLmdbStore({ folder }), { name: "StoreError", code: "not-empty", message });
  t.same(readdirSync(folder).sort(), [".profile", "letters"]);
  t.equal(statSync(folder).mode & 0o777, 0o755);
});

t.test("a folder with a store and other files is opened, and its mode is left", async (t) => {
  const folder = join(temporary(t), "store");
  await (await openLmdbStore({ folder })).close();
  writeFileSync(join(folder, "notes"), "");
  chmodSync(folder, 0o755);
  await (await openLmdbStore({ folder })).close();
  t.equal(statSync(folder).mode & 0o777, 0o755);
  t.equal(statSync(join(folder, "data.mdb")).mode & 0o777, 0o600);
});

t.test("a new volume, and a folder with a key that was put there before, are empty enough", async (t) => {
  const folder = temporary(t);
  mkdirSync(join(folder, "lost+found"));
  writeFileSync(join(folder, "secrets.key"), "");
  await (await openLmdbStore({ folder })).close();
  t.equal(statSync(folder).mode & 0o777, 0o700);
});

t.test("a folder that is a file, or lies below one, is refused with what to do", async (t) => {
  const file = join(temporary(t), "file");
  writeFileSync(file, "");
  for (const folder of [file, join(file, "below")]) {
    const message = `${folder} is not a folder, or lies below a file: use another path`;
    await t.rejects(openLmdbStore({ folder }), { name: "StoreError", code: "failed", message });
  }
});

t.test("a row that cannot be decoded is reported as damaged, and the others are read", async (t) => {
  const folder = join(temporary(t), "store");
  const store = await openLmdbStore({ folder });
  await store.commit(["a", "b"].map((name) => ({ op: "put", key: ["row", name], value: { name } })));
  await store.close();
  const raw = open({ path: folder, encoding: "binary" });
  await raw.put(["row", "a"], Buffer.from([0xc1, 0xd9, 0xff]));
  await raw.close();
  const again = await openLmdbStore({ folder });
  t.throws(() => again.reading.get(["row", "a"]), { name: "StoreError", code: "damaged" });
  t.throws(() => again.reading.range({ prefix: ["row"] }), { name: "StoreError", code: "damaged" });
  t.same(again.reading.get(["row", "b"]), { name: "b" });
  await again.close();
});

t.test("errors of the system and of LMDB are distinguished", async (t) => {
  const toCode = (message: string, code?: string | number) =>
    storeError(Object.assign(new Error(message), code === undefined ? {} : { code }), "/data").code;
  t.equal(toCode("mkdir failed", "EROFS"), "read-only");
  t.equal(toCode("Permission denied"), "read-only");
  t.equal(toCode("write failed", "ENOSPC"), "disk-full");
  t.equal(toCode("write failed", 28), "disk-full");
  t.equal(toCode("write failed", 27), "file-too-large");
  t.equal(toCode("File too large"), "file-too-large");
  t.equal(toCode("MDB_MAP_FULL: Environment mapsize limit reached"), "disk-full");
  t.equal(toCode("MDB_CORRUPTED: Located page was wrong type"), "damaged");
  t.equal(toCode("MDB_BAD_VALSIZE: Unsupported size of key"), "key-too-long");
  t.equal(toCode("something else"), "failed");
  t.equal(storeError("no error at all", "/data").code, "failed");
});

t.test("a key that is too long fails its commit with a message that says so", async (t) => {
  const store = await openLmdbStore({ folder: temporary(t) });
  await t.rejects(store.commit([{ op: "put", key: ["a", "x".repeat(3_000)], value: 1 }]), { name: "StoreError" });
  await store.close();
});

t.test("a backup taken during writes is consistent and restores into an empty folder", async (t) => {
  const root = temporary(t);
  const folder = join(root, "store");
  const store = await openLmdbStore({ folder });
  let writing = true;
  let batches = 0;
  const writes = (async () => {
    while (writing) {
      await store.commit(
        [0, 1, 2, 3, 4].map((n) => ({ op: "put" as const, key: ["row", batches, n], value: batches })),
      );
      batches += 1;
    }
  })();
  await until("50 batches", () => batches >= 50);
  const atLeast = batches;
  await store.backup(join(root, "backup"));
  const beside = await openLmdbStore({ folder, readOnly: true });
  await t.rejects(beside.commit([{ op: "put", key: ["a"], value: 1 }]), { code: "read-only" });
  await beside.backup(join(root, "beside"));
  await beside.close();
  writing = false;
  await writes;
  for (const from of ["backup", "beside"]) {
    await restoreBackup({ from: join(root, from), folder: join(root, `${from}-restored`) });
    const restored = await openLmdbStore({ folder: join(root, `${from}-restored`) });
    const rows = restored.reading.range({ prefix: ["row"] }).length;
    t.ok(rows >= atLeast * 5 && rows % 5 === 0, `${rows} rows`);
    await restored.close();
  }
  await t.rejects(store.backup(join(root, "backup")), { code: "not-empty" });
  await t.rejects(restoreBackup({ from: join(root, "backup"), folder }), { code: "not-empty" });
  await t.rejects(restoreBackup({ from: root, folder: join(root, "new") }), { code: "failed" });
  await store.close();
  await store.close();
});
