import t from "tap";
import type { Announced } from "../../../http/streams/announcements.js";
import { EventIds } from "../../../http/streams/event-id.js";

const topic = {} as Announced["topic"];
const announced = (name: string, workspaceId: string): Announced => ({
  name,
  topic,
  subject: { workspaceId, id: name },
});

const four = [
  announced("team/1", "ws_1"),
  announced("task/1", "ws_1"),
  announced("team/2", "ws_2"),
  announced("task/2", "ws_2"),
];

/** Returns a stream at these sequence numbers. The topics in `behind` still need their state. */
const stream = (seqs: Readonly<Record<string, number>>, behind: readonly string[] = []) => ({
  lastSeq: (workspaceId: string) => seqs[workspaceId] ?? 0,
  needsState: (name: string) => behind.includes(name),
});

t.test("an id is read as the point at which it was written", async (t) => {
  const ids = new EventIds(four);
  for (const behind of [[], ["team/1"], ["task/2"], ["task/1", "task/2"], four.map(({ name }) => name)]) {
    const id = ids.write(stream({ ws_1: 47, ws_2: 999_999_999_999 }, behind));
    t.match(id, /^[\x21-\x7e]+$/, "a header can have it");
    const point = ids.read(id);
    t.same(
      [...(point?.after ?? [])],
      [
        ["ws_1", 47],
        ["ws_2", 999_999_999_999],
      ],
    );
    t.same(
      [...(point?.behind ?? [])],
      behind.map((name) => [name, "reset"]),
    );
  }
  t.match(new EventIds(four.slice(0, 2)).write(stream({ ws_1: 47 })), /^47~[0-9a-f]{8}$/, "it is short");
});

t.test("the id of 200 topics in as many workspaces fits into a header", async (t) => {
  const many = Array.from({ length: 200 }, (_, index) => announced(`team/${index}`, `ws_${index}`));
  const ids = new EventIds(many);
  const all = many.map(({ name }) => name);
  const id = ids.write({ lastSeq: () => 999_999_999_999_999, needsState: (name) => all.includes(name) });
  t.ok(id.length < 4_096, `${id.length} characters`);
  t.equal(ids.read(id)?.behind.size, 200);
  t.equal(ids.read(id)?.after.size, 200);
});

t.test("the id of other topics, or of other workspaces, says nothing about these", async (t) => {
  const ids = new EventIds(four);
  const others = [
    new EventIds([...four].reverse()).write(stream({ ws_1: 1, ws_2: 2 })),
    new EventIds(four.map(({ name }) => announced(name, "ws_1"))).write(stream({ ws_1: 1 })),
  ];
  for (const id of others) {
    t.same(ids.read(id)?.after, new Map());
    t.same([...(ids.read(id)?.behind.values() ?? [])], ["reset", "reset", "reset", "reset"]);
  }
});

t.test("a text that is no id is refused", async (t) => {
  const ids = new EventIds(four);
  const id = ids.write(stream({ ws_1: 1, ws_2: 2 }));
  for (const text of ["", "47", "-", `${id}0`, `x${id}`, id.replace(".", ","), `1-${"f".repeat(51)}~00000000`]) {
    t.equal(ids.read(text), null, text);
  }
});
