import t, { type Test } from "tap";
import { ListCache } from "../../../http/resources/list-cache.js";
import type { CoveringReading } from "../../../runtime/rows/covered-reading.js";
import type { Key, Reading } from "../../../storage/store.js";
import { listItems, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

const covered: Key = ["ws_1", "row", "covered", "1"];

function arrange(t: Test) {
  const state = { version: 1 as number | null, durable: null as number | null, made: 0 };
  const reading: CoveringReading & { durableVersion(): number | null } = {
    get: () => undefined,
    range: () => [],
    covers: (key) => key[2] === "covered",
    coveredVersion: () => state.version,
    durableVersion: () => state.version ?? state.durable,
  };
  const lists = new ListCache(reading);
  const read = async (
    name: string,
    of: { key?: Key; bytes?: number; workspaceId?: string; during?: () => void } = {},
  ) => {
    const before = state.made;
    const { key = covered, bytes = 10, workspaceId = "ws_1", during = () => undefined } = of;
    const kept = lists.find(workspaceId, name);
    const making = lists.make.bind(lists, workspaceId, name, async (reading: Reading) => {
      state.made += 1;
      reading.get([workspaceId, ...key.slice(1)]);
      await Promise.resolve();
      during();
      return Buffer.alloc(bytes, String(state.made % 10));
    });
    const text = kept ?? (await making());
    t.equal(text.length, bytes);
    return state.made > before ? "made" : "kept";
  };
  return { state, read, lists };
}

t.test("a list is made once for each version of the rows that it was made from", async (t) => {
  const { state, read } = arrange(t);
  t.same([await read("a"), await read("a"), await read("b"), await read("a")], ["made", "kept", "made", "kept"]);
  state.version = 2;
  t.same([await read("a"), await read("a"), await read("b")], ["made", "kept", "made"]);
  state.version = null;
  t.same([await read("a"), await read("a")], ["made", "made"], "a batch is being committed");
  state.version = 2;
  t.equal(await read("a"), "kept", "it changed none of them");
});

t.test("a list is kept while a batch is being committed, until that may be durable", async (t) => {
  const { state, read } = arrange(t);
  t.equal(await read("a"), "made");
  Object.assign(state, { version: null, durable: 1 });
  t.same([await read("a"), await read("b"), await read("b")], ["kept", "made", "kept"]);
  const during = () => {
    state.durable = null;
  };
  t.same([await read("c", { during }), await read("c"), await read("a")], ["made", "made", "made"]);
});

t.test("who asks for a list while it is made of the same rows waits for it", async (t) => {
  const { state, read } = arrange(t);
  t.same(await Promise.all([read("a"), read("a"), read("b")]), ["made", "made", "made"]);
  t.equal(state.made, 2);
  const before = read("c");
  state.version = 2;
  await Promise.all([before, read("c"), read("c")]);
  t.equal(state.made, 4, "rows changed between the first and the others");
  state.version = null;
  await Promise.all([read("d"), read("d")]);
  t.equal(state.made, 6, "a batch is being committed");
});

t.test("a list that cannot be made is tried anew", async (t) => {
  const { state, read } = arrange(t);
  const during = () => {
    throw new Error("canary");
  };
  const failed = await Promise.allSettled([read("a", { during }), read("a")]);
  t.same(
    failed.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  t.equal(await read("a"), "made");
  t.equal(state.made, 2);
});

t.test("what was made from other rows, or while rows changed, is not kept", async (t) => {
  const { state, read } = arrange(t);
  const other: Key = ["ws_1", "row", "other", "1"];
  t.same([await read("a", { key: other }), await read("a", { key: other })], ["made", "made"]);
  const during = () => {
    state.version = 2;
  };
  t.same([await read("b", { during }), await read("b"), await read("b")], ["made", "made", "kept"]);
});

t.test("a workspace holds its own share, and many workspaces hold what was read last", async (t) => {
  const { read } = arrange(t);
  const bytes = 200 * 1024;
  for (const name of ["a", "b"]) await read(name, { bytes });
  t.equal(await read("a", { bytes }), "kept");
  t.equal(await read("c", { bytes }), "made");
  t.same(
    [await read("a", { bytes }), await read("b", { bytes })],
    ["kept", "made"],
    "what was not read for longest goes",
  );
  t.same([await read("big", { bytes: 600 * 1024 }), await read("big", { bytes: 600 * 1024 })], ["made", "made"]);
  t.equal(await read("a", { bytes, workspaceId: "ws_2" }), "made");
  t.equal(await read("a", { bytes }), "kept", "another workspace takes none of it");
  for (let n = 0; n < 64; n++) await read("a", { workspaceId: `ws_many_${n}` });
  t.equal(await read("a", { bytes }), "made");
});

t.test("a list is as it is after each change, and for each who may read it", async (t) => {
  const service = await startTestService(t);
  const owner = await service.signIn("owner@example.com");
  const { workspaceId } = await workspaceWithTeam(owner);
  const secrets = `/api/resources/workspaces/${workspaceId}/secrets`;
  const listed = async () => listItems(await owner.request("GET", secrets)).map(({ name, version }) => [name, version]);
  t.same([await listed(), await listed()], [[], []]);
  const { id } = await owner.create(secrets, { name: "one", value: "v", valueVersion: 1 });
  t.same([await listed(), await listed()], [[["one", 1]], [["one", 1]]]);
  const body = { name: "one", value: "w", valueVersion: 2 };
  await owner.request("PUT", `/api/resources/secrets/${id}`, body, { "if-match": '"1"' });
  t.same([await listed(), await listed()], [[["one", 2]], [["one", 2]]]);
  const stranger = await service.signIn("stranger@example.com");
  t.equal((await stranger.request("GET", secrets)).status, 404);
});

t.test("cleared, it makes every list again, also one that was being made", async (t) => {
  const { read, lists } = arrange(t);
  t.same([await read("a"), await read("a")], ["made", "kept"]);
  lists.clear();
  t.same([await read("a"), await read("a")], ["made", "kept"]);
  t.equal(await read("b", { during: () => lists.clear() }), "made");
  t.equal(await read("b"), "made", "what was made of the settings before is not kept");
});
