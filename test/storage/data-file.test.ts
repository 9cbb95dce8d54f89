import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import { type Reading, StoreError } from "../../storage/store.js";
import { SEALED_FORMAT } from "../../storage/stored-value.js";

const PAGE = 4_096;
/** Offset of the last page's number in each of the first two pages. */
const LAST_PAGE = 144;
const BIG = "x".repeat(20_000);

function temporary(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-data-file-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const toFile = (folder: string) => join(folder, "data.mdb");

/** Writes rows into many leaf pages below branch pages. Some values have pages of their own. */
async function fill(folder: string): Promise<void> {
  const store = await openLmdbStore({ folder });
  for (let batch = 0; batch < 30; batch++) {
    await store.commit(
      Array.from({ length: 40 }, (_, n) => ({
        op: "put" as const,
        key: ["a", batch, n],
        value: n === 7 ? BIG : "x".repeat(100),
      })),
    );
  }
  await store.close();
}

t.test("a truncated or overwritten file is refused as damaged, whatever is left of it", async (t) => {
  const whole = join(temporary(t), "whole");
  await fill(whole);
  const size = statSync(toFile(whole)).size;
  const damages: [string, (path: string) => void][] = [
    ...[0.999, 0.9, 0.5, 0.05, 0.001].map((share): [string, (path: string) => void] => [
      `cut to ${share}`,
      (path) => truncateSync(path, Math.floor(size * share)),
    ]),
    ["cut to one page", (path) => truncateSync(path, PAGE)],
    ["overwritten", (path) => writeFileSync(path, Buffer.alloc(size, 7))],
    [
      "cut short, and what is left overwritten but for LMDB's own two pages",
      (path) => {
        truncateSync(path, Math.floor(size * 0.9));
        overwrite(path, 2 * PAGE, size);
      },
    ],
    [
      "more pages expected than there are, and those overwritten with leaves that make no sense",
      (path) => {
        for (const at of [LAST_PAGE, PAGE + LAST_PAGE]) overwrite(path, at, 2);
        overwrite(path, 2 * PAGE, size, 0xfe);
      },
    ],
    ["second page overwritten", (path) => overwrite(path, PAGE, 64)],
    ["page size overwritten", (path) => overwrite(path, 48, 4)],
  ];
  for (const [name, damage] of damages) {
    const folder = join(temporary(t), "damaged");
    cpSync(whole, folder, { recursive: true });
    damage(toFile(folder));
    const left = readFileSync(toFile(folder));
    await t.rejects(openLmdbStore({ folder }), { code: "damaged", message: /restore a backup/ }, name);
    t.ok(left.equals(readFileSync(toFile(folder))), "nothing was changed");
  }
  const store = await openLmdbStore({ folder: whole });
  t.equal(store.reading.range({ prefix: ["a"] }).length, 1_200);
  await store.close();
});

function overwrite(path: string, at: number, length: number, byte = 0x77): void {
  const bytes = readFileSync(path);
  bytes.fill(byte, at, Math.min(at + length, bytes.length));
  writeFileSync(path, bytes);
}

t.test("a file cut at any page is refused, unless only free pages are missing: then all rows are read", async (t) => {
  const whole = join(temporary(t), "whole");
  await fill(whole);
  const thinning = await openLmdbStore({ folder: whole });
  const rows = thinning.reading.range({ prefix: ["a"] });
  // The puts below reuse the pages that earlier batches freed, so the new rows are on pages with lower numbers.
  await thinning.commit(rows.slice(150).map(({ key }) => ({ op: "remove" as const, key })));
  for (let n = 0; n < 5; n++) await thinning.commit([{ op: "put", key: ["b", n], value: n === 3 ? BIG : n }]);
  const wanted = thinning.reading.range({ prefix: [] });
  await thinning.close();

  const folder = join(temporary(t), "cut");
  cpSync(whole, folder, { recursive: true });
  const outcomes: string[] = [];
  for (let pages = Math.floor(statSync(toFile(whole)).size / PAGE); pages > 0; pages--) {
    truncateSync(toFile(folder), pages * PAGE);
    outcomes.push(await readOutcome(folder, JSON.stringify(wanted)));
  }
  const firstRefused = outcomes.indexOf("damaged");
  t.ok(firstRefused > 50, `${firstRefused} free pages at the end may be missing`);
  t.same(new Set(outcomes.slice(0, firstRefused)), new Set(["whole"]));
  t.same(new Set(outcomes.slice(firstRefused)), new Set(["damaged"]), "no page in use may");
});

async function readOutcome(folder: string, wanted: string): Promise<string> {
  try {
    const store = await openLmdbStore({ folder, readOnly: true });
    const isWhole = JSON.stringify(store.reading.range({ prefix: [] })) === wanted;
    await store.close();
    return isWhole ? "whole" : "changed";
  } catch (error) {
    return error instanceof StoreError ? error.code : String(error);
  }
}

t.test("reads of rows whose page was overwritten fail as damaged", async (t) => {
  const folder = temporary(t);
  await fill(folder);
  const formatted = await openLmdbStore({ folder });
  await formatted.commit([{ op: "put", key: ["~", "meta", "format"], value: SEALED_FORMAT }]);
  await formatted.close();
  const bytes = readFileSync(toFile(folder));
  for (let at = 2 * PAGE; at < bytes.length; at += PAGE) {
    const page = bytes.subarray(at, at + PAGE);
    // When the store is opened, it reads the page with the format's row. So do not damage this page.
    if (page.includes("xxxxxxxxxx") && !page.includes("format")) page.fill(0);
  }
  writeFileSync(toFile(folder), bytes);
  const reads = [
    (reading: Reading) => reading.get(["a", 3, 3]),
    (reading: Reading) => reading.range({ prefix: ["a", 3] }),
  ];
  for (const read of reads) {
    const store = await openLmdbStore({ folder, readOnly: true });
    const view = store.view();
    t.throws(() => read(view), { name: "StoreError", code: "damaged" });
    view.close();
    await store.close();
  }
});

t.test("an empty file is a new store", async (t) => {
  const folder = temporary(t);
  writeFileSync(toFile(folder), "");
  const store = await openLmdbStore({ folder });
  t.same(store.reading.range({ prefix: ["a"] }), []);
  await store.close();
});
