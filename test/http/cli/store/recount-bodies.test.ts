import t from "tap";
import { openLmdbStore } from "../../../../storage/lmdb-store.js";
import type { Change, Entry, Reading } from "../../../../storage/store.js";
import { openUnpacked } from "../../../fixtures/open.js";
import { unpackFixture } from "../../../fixtures/unpack.js";
import { type CommandEnd, runSignalbox, runStoreProgram } from "../../../support/signalbox-command.js";

const run = (...args: string[]): Promise<CommandEnd> => runStoreProgram("recount-bodies", ...args);

interface Use {
  readonly count: number;
  readonly unusedSinceMs: number | null;
}

/** Returns a table's rows in all workspaces. */
function listAbout<Row>(reading: Reading, table: string): Entry<Row>[] {
  return reading.range<Row>({ prefix: [] }).filter(({ key }) => key[1] === "row" && key[2] === table);
}

t.test("counts that were damaged are put right on a stopped service's folder, and it goes on", async (t) => {
  const unpacked = unpackFixture(t, "format-1");
  const { folder } = unpacked;
  t.match(await run("--data", folder), { code: 0, out: `recounted the bodies of ${folder}: 0 corrected\n` });

  const store = await openLmdbStore({ folder });
  const before = listAbout<Use>(store.reading, "blob-use");
  const [high, low, gone] = before.filter(({ value }) => value.count > 0);
  if (high === undefined || low === undefined || gone === undefined) throw new Error("the fixture has too few bodies");
  const damage: Change[] = [
    { op: "put", key: high.key, value: { ...high.value, count: high.value.count + 2 } },
    { op: "put", key: low.key, value: { ...low.value, count: low.value.count - 1 } },
    { op: "remove", key: gone.key },
  ];
  await store.commit(damage);
  await store.close();

  const { code, out } = await runSignalbox("recount-bodies", "--data", folder);
  t.equal(code, 0);
  const line = ({ key, value }: Entry<Use>, stood: string) =>
    `${[String(key[0]), String(key.at(-1)), `${stood}, rows that refer to it: ${value.count}`].join("\t")}\n`;
  const lines = [
    line(high, `counted ${high.value.count + 2}`),
    line(low, `counted ${low.value.count - 1}`),
    line(gone, "not counted"),
  ];
  for (const each of lines) t.ok(out.includes(each), each);
  t.ok(out.endsWith(`recounted the bodies of ${folder}: 3 corrected\n`), out);
  const again = await openLmdbStore({ folder });
  t.same(listAbout(again.reading, "blob-use"), before);
  await again.close();

  const { ada, manifest } = await openUnpacked(t, unpacked);
  t.equal((await ada.request("GET", `/api/teams/${manifest.teams.core}/tasks`)).status, 200);
});

t.test("a missing body is reported, with the advice to restore it from a backup", async (t) => {
  const { folder } = unpackFixture(t, "format-1");
  t.equal((await run("--data", folder)).code, 0);
  const store = await openLmdbStore({ folder });
  const [use] = listAbout<Use>(store.reading, "blob-use").filter(({ value }) => value.count > 0);
  const [partition = "", digest = ""] = [use?.key[0], use?.key.at(-1)].map(String);
  await store.commit([{ op: "remove", key: [partition, "row", "blob", digest] }]);
  await store.close();
  const { code, out, err } = await run("--data", folder);
  t.equal(code, 1);
  t.match(out, `${partition}\t${digest}\tmissing, counted ${use?.value.count}`);
  t.match(err, /1 missing: restore them from a backup/);
});

t.test("the folder of a service that runs is refused", async (t) => {
  const { folder } = unpackFixture(t, "format-1");
  const store = await openLmdbStore({ folder });
  t.match(await run("--data", folder), { code: 1, out: "", err: /another process uses the store/ });
  await store.close();
});
