import t from "tap";
import type { Kind } from "../../../actors/resources/kind.js";
import type { ResourceRow } from "../../../actors/resources/resource.table.js";
import { TextCache } from "../../../http/resources/text-cache.js";
import type { CoveringReading } from "../../../runtime/rows/covered-reading.js";
import { workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

const plain = { heldBy: "workspace" } as unknown as Kind;

function arrange() {
  const state = { version: 1 as number | null, warnings: 0 };
  const reading: CoveringReading = {
    get: () => undefined,
    range: () => [],
    covers: (key) => key[2] === "covered",
    coveredVersion: () => state.version,
  };
  const warning = {
    ...plain,
    warnings: (_fields: unknown, through: CoveringReading, { address }: ResourceRow) => {
      state.warnings += 1;
      through.get(["ws_1", "row", address, "1"]);
      return [];
    },
  } as unknown as Kind;
  return { state, warning, texts: new TextCache(reading) };
}

function row(id: string, address = "covered", fields: Record<string, unknown> = {}): ResourceRow {
  const of = {
    id,
    kind: "plain",
    version: 3,
    workspaceId: "ws_1",
    teamId: null,
    address,
    fields,
    hidden: {},
    added: {},
  };
  return { ...of, createdAt: "", updatedAt: "" };
}

t.test("a text is kept for the very row that it was made from", async (t) => {
  const { state, texts } = arrange();
  const one = row("one");
  t.equal(texts.find(one), undefined);
  const made = texts.make(plain, one);
  t.same([JSON.parse(made.json).id, made.headers.etag], ["one", '"3"']);
  t.equal(texts.find(one), made);
  state.version = null;
  t.equal(texts.find(one), made, "it follows from its row alone");
  t.equal(texts.find(row("one")), undefined, "another row of the same resource");
});

t.test("one with warnings counts while no row changes that they were made from", async (t) => {
  const { state, warning, texts } = arrange();
  const [one, other] = [row("one"), row("other", "elsewhere")];
  texts.make(warning, one);
  t.ok(texts.find(one));
  state.version = 2;
  t.equal(texts.find(one), undefined);
  state.version = null;
  texts.make(warning, one);
  t.equal(texts.find(one), undefined, "a batch is being committed");
  state.version = 3;
  texts.make(warning, other);
  t.equal(texts.find(other), undefined, "its warnings are made from rows whose changes are not known");
  t.equal(state.warnings, 3);
});

t.test("texts have a bound: those that were made first go", async (t) => {
  const { texts } = arrange();
  const big = "x".repeat(60 * 1024);
  const rows = Array.from({ length: 150 }, (_, n) => row(`row_${n}`, "covered", { big }));
  for (const each of rows) texts.make(plain, each);
  const kept = rows.filter((each) => texts.find(each) !== undefined);
  t.ok(kept.length > 100 && kept.length < 140, String(kept.length));
  t.equal(kept.at(-1), rows.at(-1));
  t.equal(texts.find(rows[0] ?? row("none")), undefined);
  const huge = row("huge", "covered", { big: big.repeat(2) });
  texts.make(plain, huge);
  t.equal(texts.find(huge), undefined);
});

t.test("a resource is read as it is after each change, and its warnings as they are", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { workspaceId } = await workspaceWithTeam(owner);
  const secrets = `/api/resources/workspaces/${workspaceId}/secrets`;
  const { id } = await owner.create(secrets, { name: "one", value: "v", valueVersion: 1 });
  const read = async () => {
    const { body, headers } = await owner.request("GET", `/api/resources/secrets/${id}`);
    return [(body as { readonly valueVersion: number }).valueVersion, headers.etag];
  };
  t.same(
    [await read(), await read()],
    [
      [1, '"1"'],
      [1, '"1"'],
    ],
  );
  const body = { name: "one", value: "w", valueVersion: 2 };
  await owner.request("PUT", `/api/resources/secrets/${id}`, body, { "if-match": '"1"' });
  t.same(
    [await read(), await read()],
    [
      [2, '"2"'],
      [2, '"2"'],
    ],
  );
});

t.test("cleared, it makes every text again", (t) => {
  const { state, warning, texts } = arrange();
  const one = row("one");
  texts.make(warning, one);
  t.ok(texts.find(one));
  texts.clear();
  t.equal(texts.find(one), undefined);
  texts.make(warning, one);
  t.equal(state.warnings, 2);
  t.end();
});
