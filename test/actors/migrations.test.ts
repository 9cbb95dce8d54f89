import t, { type Test } from "tap";
import type { InviteRow } from "../../actors/access/invites/invite.js";
import { invites } from "../../actors/access/invites/invite.table.js";
import { migrations } from "../../actors/catalogue.js";
import type { CodeHostConnection } from "../../actors/code-host/connection.js";
import { codeHostConnections } from "../../actors/code-host/connection.table.js";
import type { TaskRow } from "../../actors/tasks/task.js";
import { tasks } from "../../actors/tasks/task.table.js";
import type { Member } from "../../actors/workspaces/member.js";
import { putMember } from "../../actors/workspaces/member.table.js";
import { openLmdbStore } from "../../storage/lmdb-store.js";
import type { Entry } from "../../storage/store.js";
import { unpackFixture } from "../fixtures/unpack.js";
import { bringUp, bringUpThroughKills, collectEntries, stepped, storeWith } from "../support/migrating.js";
import { memoryRows } from "../support/turn.js";

/**
 * Tests the migration catalogue with the first release's store. The tests do not depend on what the single migrations
 * do.
 */

type Rows = ReturnType<typeof memoryRows>;

const format = (value: number): Entry => ({ key: ["~", "meta", "format"], value });

async function firstRelease(t: Test): Promise<readonly Entry[]> {
  const { folder } = unpackFixture(t, "format-1");
  const store = await openLmdbStore({ folder, readOnly: true });
  const entries = store.reading.range({ prefix: [] });
  await store.close();
  return entries;
}

t.test("killed after each slice, the migrations come to the same as in one go", async (t) => {
  const entries = await firstRelease(t);
  const whole = await storeWith(entries);
  await bringUp(whole, { steps: migrations });
  const pieces = await storeWith(entries);
  await bringUpThroughKills(pieces, { steps: migrations, slice: 16 });
  t.same(collectEntries(pieces), collectEntries(whole));
  t.equal(pieces.reading.get(format(0).key), migrations.length + 1);
});

t.test("each step may run again, and changes nothing then", async (t) => {
  let entries = await firstRelease(t);
  for (const { to, title } of migrations) {
    const steps = migrations.slice(0, to - 1);
    const once = await storeWith(entries);
    await bringUp(once, { steps });
    const again = await storeWith([...collectEntries(once), format(to - 1)]);
    await bringUp(again, { steps });
    t.same(collectEntries(again), collectEntries(once), `${to}, ${title}`);
    entries = once.reading.range({ prefix: [] });
  }
});

t.test("the stored count of exhausted hook occurrences is removed, and nothing else", async (t) => {
  const step = migrations.find(({ title }) => title.startsWith("firings over all workspaces"));
  if (step === undefined) throw new Error("there is no such step");
  const slug: Entry = { key: ["~", "row", "workspace-slug", "acme"], value: { workspaceId: "ws_1" } };
  const count: Entry = { key: ["~", "row", "hook-given-up", "total"], value: 3 };
  t.same(await stepped(step, [count, slug]), [slug]);
});

t.test("rows of the first release stand in the indexes that are declared today, and in no others", async (t) => {
  const store = await storeWith(await firstRelease(t));
  await bringUp(store, { steps: migrations });
  const { reading } = store;
  const partitions = new Set(reading.range({ prefix: [] }).map(({ key }) => String(key[0])));
  const declared = [
    { names: ["invite", "open-invite"], write: (rows: Rows, row: InviteRow) => invites.insert(rows, at, row) },
    { names: ["member", "member-email", "owner"], write: (rows: Rows, row: Member) => putMember(rows, at, row) },
    { names: ["task", "open-task"], write: (rows: Rows, row: TaskRow) => tasks.insert(rows, at, row) },
    {
      names: ["code-host-connection"],
      write: (rows: Rows, row: CodeHostConnection) => codeHostConnections.insert(rows, at, row),
    },
  ];
  let at = "";
  for (const { names, write } of declared) {
    const [name = ""] = names;
    let count = 0;
    for (at of partitions) {
      const rows = memoryRows();
      for (const { value } of reading.range({ prefix: [at, "row", name] })) write(rows, value as never);
      for (const each of names) {
        const prefix = [at, "row", each];
        t.same(reading.range({ prefix }), rows.range({ prefix }), each);
        count += rows.range({ prefix }).length;
      }
    }
    t.ok(count > 0, `${name}: ${count} rows`);
  }
});
