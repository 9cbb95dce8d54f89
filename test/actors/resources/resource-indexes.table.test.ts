import t from "tap";
import { hookKind } from "../../../actors/hooks/hook.kind.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import type { ResourceRow } from "../../../actors/resources/resource.table.js";
import { putResource, removeResource } from "../../../actors/resources/resource-indexes.table.js";
import type { Key, Writing } from "../../../storage/store.js";
import { directedRows, memoryRows } from "../../support/turn.js";

const kind = hookKind({ allowList: parseAllowList(""), signsTokens: false });
const workspaceId = "ws_1";

function hook(fields: object): ResourceRow {
  return {
    id: "hook_1",
    kind: "hook",
    version: 1,
    workspaceId,
    teamId: "team_1",
    address: "core/tell",
    hidden: {},
    added: {},
    createdAt: "",
    updatedAt: "",
    fields: kind.schema.parse({ key: "tell", on: "task.moved", steps: [{ name: "tell" }], ...fields }),
  };
}

/** Returns rows, and a function that lists the tables written since its last call. */
function written() {
  const rows = memoryRows();
  const tables: unknown[] = [];
  const noted: Writing = {
    get: (key) => rows.get(key),
    range: (range) => rows.range(range),
    put: (key, value) => {
      tables.push(key[2]);
      rows.put(key, value);
    },
    remove: (key: Key) => {
      tables.push(`-${key[2]}`);
      rows.remove(key);
    },
  };
  return { rows: directedRows(noted), take: () => tables.splice(0).sort() };
}

t.test("an update writes the row and its changed index entries", async (t) => {
  const { rows, take } = written();
  const first = hook({});
  putResource(rows, kind, first, null);
  t.same(take(), ["held", "place", "resource", "resource-address", "resource-title", "resource-word"]);
  const renamed = { ...first, version: 2, fields: { ...first.fields, name: "Another name" } };
  putResource(rows, kind, renamed, first);
  t.same(take(), ["resource"]);
  const moved = { ...hook({ on: "task.opened" }), version: 3 };
  putResource(rows, kind, moved, renamed);
  t.same(take(), ["-resource-word", "resource", "resource-word"]);
  removeResource(rows, kind, moved);
  t.same(take(), [
    "-held",
    "-hook-health",
    "-place",
    "-resource",
    "-resource-address",
    "-resource-title",
    "-resource-word",
  ]);
  t.same(rows.range({ prefix: [workspaceId] }), []);
});
