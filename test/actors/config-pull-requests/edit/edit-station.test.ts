import t from "tap";
import { editStation } from "../../../../actors/config-pull-requests/edit/edit-station.js";
import type { SourceTree } from "../../../../actors/config-pull-requests/edit/station-edit.js";
import { RunAbort } from "../../../../runtime/effects/run-signal.js";
import { ManualClock } from "../../../support/manual-clock.js";
import { EDITED_PATH, toStation, toTree, toWanted } from "../../../support/station-edit.js";

const source = (model: string) => `resource "service_line" "web" {
  key = "web"
  stations = [
    { key = "plan", name = "Plan", kind = "work", model = ${model} }, # the first
  ]
}
`;
const wanted = toWanted(toStation({ model: "small" }), { model: "large" });

function toRun(clock = new ManualClock(0)) {
  return { clock, signal: new RunAbort() };
}

t.test("an edit in a thread of its own changes the wanted value and nothing else", async (t) => {
  t.same(await editStation(toTree({ [EDITED_PATH]: source('"small"') }), wanted, toRun()), {
    files: [{ path: EDITED_PATH, before: source('"small"'), after: source('"large"') }],
  });
});

t.test("a file that is read with chomp keeps its final newline, and no value ends with one", async (t) => {
  const text = source('"small"').replace('model = "small"', 'prompt = chomp(file("$' + '{path.module}/plan.md"))');
  const edit = (prompt: string) =>
    editStation(
      toTree({ [EDITED_PATH]: text, "lines/plan.md": "Plan it.\n" }),
      toWanted(toStation({ prompt: "Plan it." }), { prompt }),
      toRun(),
    );
  t.same(await edit("Plan\nwell."), {
    files: [{ path: "lines/plan.md", before: "Plan it.\n", after: "Plan\nwell.\n" }],
  });
  t.match(await edit("Plan well.\n"), { refused: { code: "computed" } });
});

t.test("a source that ends a parser is refused, and the next one is edited", async (t) => {
  const deep = `a = ${"[".repeat(20_000)}\n`;
  t.match(await editStation(toTree({ [EDITED_PATH]: deep }), wanted, toRun()), { refused: { code: /^not-/ } });
  t.match(await editStation(toTree({ [EDITED_PATH]: source('"small"') }), wanted, toRun()), { files: { length: 1 } });
});

t.test("an edit that takes too long is refused", async (t) => {
  const clock = new ManualClock(0);
  const tree: SourceTree = {
    ...toTree({}),
    async list() {
      // Advances the clock after this list is returned, before the edit's thread can send its next request.
      setImmediate(() => clock.advance(180_000));
      return { entries: [{ path: EDITED_PATH, kind: "file" }], isWhole: true };
    },
    read: () => new Promise(() => undefined),
  };
  t.match(await editStation(tree, wanted, toRun(clock)), { refused: { code: "not-proven", message: /too long/ } });
});

t.test(
  "an edit that uses too much memory is refused at the source, and not at the file that is read last",
  async (t) => {
    const long = `# ${"a".repeat(1_000_000)}\n`;
    const files = Object.fromEntries(Array.from({ length: 390 }, (_, index) => [`infra/${index}/main.tf`, long]));
    const outcome = await editStation(toTree({ ...files, [EDITED_PATH]: source('"small"') }), wanted, toRun());
    const message = /^At lines\/main\.tf:1: the edit of the file uses too much memory/;
    t.match(outcome, { refused: { code: "not-proven", message, wanted: "large" } });
  },
);

t.test("what the repository rejects with, and what ends the run, ends the edit", async (t) => {
  const gone = new Error("gone");
  const tree = { ...toTree({}), list: () => Promise.reject(gone) };
  await t.rejects(editStation(tree, wanted, toRun()), gone);

  const run = toRun();
  const over = new Error("over");
  const endless = { ...toTree({}), list: () => new Promise<never>(() => run.signal.abort(over)) };
  await t.rejects(editStation(endless, wanted, run), over);
  await t.rejects(editStation(toTree({}), wanted, run), over, "and one that was ended before it began");
});
