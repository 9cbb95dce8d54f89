import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { readConfig } from "../../../http/process/config.js";
import { createLog } from "../../../http/process/log.js";
import { startService } from "../../../http/process/service.js";
import { openLmdbStore } from "../../../storage/lmdb-store.js";
import { eachRow, putRow } from "../../../storage/migration-walks.js";
import { MigrationCutShort } from "../../../storage/migrations.js";
import type { Change, Store } from "../../../storage/store.js";
import { collectEntries, storeWith } from "../../support/migrating.js";
import { signalbox } from "../../support/signalbox-command.js";

const marks = eachRow<{ readonly marked?: true }>("thing", (row, at) =>
  row.marked === true ? [] : [putRow(at, "thing", at.id, { marked: true })],
);
const steps = [{ to: 2, title: "things are marked", walks: [marks] }];
/** More rows than two slices contain. */
const things = Array.from({ length: 300 }, (_, index) => ({ key: ["ws_1", "row", "thing", index], value: {} }));

async function temporary(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-migrating-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns a store of the first format whose batches wait until the test releases them. */
async function gated(): Promise<{
  store: Store;
  batches: (readonly Change[])[];
  let: (count: number) => Promise<void>;
}> {
  const store = await storeWith([{ key: ["~", "meta", "format"], value: 1 }, ...things]);
  const batches: (readonly Change[])[] = [];
  const waiting: (() => void)[] = [];
  let arrived: () => void = () => undefined;
  const commit = async (changes: readonly Change[]) => {
    batches.push(changes);
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      arrived();
    });
    await store.commit(changes);
  };
  const next = async () => {
    if (waiting.length === 0) await new Promise<void>((resolve) => (arrived = resolve));
    waiting.shift()?.();
  };
  return {
    store: { ...store, commit },
    batches,
    let: async (count) => {
      for (let done = 0; done < count; done++) await next();
    },
  };
}

/** Starts the service on a store; `lines` contains its log. */
async function start(t: Test, store: Store, ending?: AbortSignal) {
  const lines: string[] = [];
  const config = readConfig({ DATA_DIR: await temporary(t), PORT: "0" });
  const starting = startService({
    config,
    store,
    migrations: steps,
    log: createLog("info", { write: (line) => void lines.push(line) }),
    ...(ending === undefined ? {} : { ending }),
  });
  return { starting, lines };
}

t.test("nothing is served, and nobody else writes, before the last slice of the migrations", async (t) => {
  const gate = await gated();
  const { starting, lines } = await start(t, gate.store);
  let isStarted = false;
  void starting.then(() => {
    isStarted = true;
  });
  const migrating = 5;
  await gate.let(migrating - 1);
  while (gate.batches.length < migrating) await new Promise(setImmediate);
  t.same(
    gate.batches.map((changes) => changes.length),
    [2, 129, 129, 45, 3],
    "the mark, three slices with their place, the mark taken away and what is left of it given checksums",
  );
  t.notOk(isStarted);
  t.notMatch(lines.join(""), /listening/);
  t.equal(gate.store.reading.get(["ws_1", "row", "thing", 299]) !== undefined, true);
  const service = starting.finally(() => undefined);
  void gate.let(Number.POSITIVE_INFINITY);
  await (await service).stop();
  t.match(lines.join(""), /"the store in \S+ has format 2".*listening/s);
});

t.test("asked to end while its store is on the way, the service ends after the slice under way", async (t) => {
  const gate = await gated();
  const ending = new AbortController();
  const { starting, lines } = await start(t, gate.store, ending.signal);
  await gate.let(1);
  ending.abort();
  void gate.let(1);
  await t.rejects(starting, MigrationCutShort);
  t.equal(gate.batches.length, 2);
  t.match(lines.join(""), /format 2 \(things are marked\): 0 of 2 partitions, 128 entries/);
  const rest = { ...gate.store, commit: (changes: readonly Change[]) => gate.store.commit(changes) };
  const again = await start(t, rest);
  void gate.let(Number.POSITIVE_INFINITY);
  await (await again.starting).stop();
  t.match(again.lines.join(""), /from format 1 to 2 was interrupted, and resumes/);
  const left = collectEntries(gate.store).filter(({ key }) => key[2] === "thing");
  t.same(
    left,
    things.map(({ key }) => ({ key, value: { marked: true } })),
  );
});

t.test("a store of a newer release stops the start with one line, and is left as it is", async (t) => {
  const folder = await temporary(t);
  const store = await openLmdbStore({ folder });
  await store.commit([{ op: "put", key: ["~", "meta", "format"], value: 1_000 }]);
  await store.close();
  const child = spawn(process.execPath, [signalbox, "serve"], {
    env: { DATA_DIR: folder, PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
  t.same(await once(child, "close"), [1, null]);
  t.match(
    said,
    /^the store in \S+ has format 1000, but this release reads only formats up to \d+: use a newer release\n$/,
  );
});
