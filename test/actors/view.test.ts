import t from "tap";
import { z } from "zod";
import { type Computed, defineView } from "../../actors/view.js";

const schema = z.strictObject({
  note: z.string().optional().describe("Absent for none."),
  id: z.string(),
  count: z.int(),
  tags: z.array(z.string()),
});

interface Row {
  readonly hidden: string;
  readonly tags: readonly string[];
  readonly id: string;
  readonly note?: string;
  readonly items: readonly string[];
}

const show = defineView<Row>()(schema, { count: ({ items }) => items.length });
const row: Row = { hidden: "h", tags: ["a"], id: "1", items: ["x", "y"] };

t.test("a row is shown in the order of its schema, without its other members", async (t) => {
  t.equal(JSON.stringify(show(row)), '{"id":"1","count":2,"tags":["a"]}');
});

t.test("an optional member comes last, and is absent if undefined", async (t) => {
  t.equal(JSON.stringify(show({ ...row, note: "n" })), '{"id":"1","count":2,"tags":["a"],"note":"n"}');
  t.notOk("note" in show({ ...row, note: undefined }));
});

t.test("a computed member takes precedence over the row's, and reads the context", async (t) => {
  const named = defineView<Row, { readonly prefix: string }>()(schema, {
    id: ({ id }, { prefix }) => `${prefix}${id}`,
    count: () => 0,
    note: () => undefined,
  });
  t.same(named({ ...row, note: "n" }, { prefix: "p" }), { id: "p1", count: 0, tags: ["a"] });
});

t.test("members that are no identifiers are shown too", async (t) => {
  const odd = defineView<{ readonly "a-b": string; readonly for: number }>()(
    z.strictObject({ for: z.number(), "a-b": z.string() }),
    {},
  );
  t.equal(JSON.stringify(odd({ "a-b": "x", for: 1 })), '{"for":1,"a-b":"x"}');
});

/** Whether TypeScript accepts a view of this row that computes nothing. */
type NeedsNothing<View, Stored> = Record<never, never> extends Computed<View, Stored> ? "yes" : "no";

t.test("a member without a source, or with another type, is a type error", async (t) => {
  const complete: NeedsNothing<{ a: string }, { a: string; b: number }> = "yes";
  const missing: NeedsNothing<{ a: string; b: number }, { a: string }> = "no";
  const other: NeedsNothing<{ a: string }, { a: string | null }> = "no";
  const renamed: NeedsNothing<{ a?: string }, { b: string }> = "no";
  t.same([complete, missing, other, renamed], ["yes", "no", "no", "no"]);
});
