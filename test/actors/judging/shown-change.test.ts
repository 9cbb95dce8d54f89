import fc from "fast-check";
import t from "tap";
import { type Change, type ChangedFile, MAX_COUNTED_FILES } from "../../../actors/judging/change.js";
import { FencedText } from "../../../actors/judging/fence.js";
import { showChange } from "../../../actors/judging/shown-change.js";
import { MAX_JUDGED_STEPS, showSteps } from "../../../actors/judging/shown-steps.js";

const mark = "0123456789abcdef";

/**
 * Returns a change of files. The texts of the files' hunks have these lengths, and every second text is a single line.
 */
function toChange(lengths: readonly (readonly number[])[]): Change {
  let number = 0;
  const files = lengths.map((hunks, at): ChangedFile => {
    const texts = hunks.map((length) => {
      number += 1;
      const line = number % 2 === 0 ? "x".repeat(length) : "long line\n".repeat(length / 10);
      return `@@ ${number} @@\n+${line}`;
    });
    return {
      repository: "app",
      path: `${"folder/".repeat(at % 30)}file-${at}`,
      kind: "changed",
      added: hunks.length,
      removed: 0,
      isCut: false,
      hunks: texts.map((text, index) => ({ number: number - hunks.length + index + 1, text, added: 1, removed: 0 })),
    };
  });
  return { files, unread: 0 };
}

function shown(change: Change, maxCharacters: number, isReversed = false) {
  const into = new FencedText(mark);
  const { hunks, isCut } = showChange(into, change, { maxCharacters, isReversed });
  return { text: into.toString(), hunks, isCut };
}

const lengths = fc.oneof(
  fc.array(fc.array(fc.nat({ max: 3_000 }), { maxLength: 5 }), { maxLength: 60 }),
  fc.array(fc.array(fc.nat({ max: 100_000 }), { maxLength: 2 }), { maxLength: 400, minLength: 50, size: "max" }),
);
const room = fc.integer({ min: 5_000, max: 60_000 });

t.test("a shown change never takes more than its characters, and is whole when it fits", async () => {
  fc.assert(
    fc.property(lengths, room, fc.boolean(), (files, maxCharacters, isReversed) => {
      const change = toChange(files);
      const { text, hunks, isCut } = shown(change, maxCharacters, isReversed);
      const all = change.files.flatMap((file) => file.hunks);
      const isWhole = all.every((hunk) => text.includes(hunk.text)) && hunks.length === all.length;
      return text.length <= maxCharacters && isWhole === !isCut && new Set(hunks).size === hunks.length;
    }),
  );
});

t.test(
  "the order of the files decides nothing about what is shown, and hunks are numbered as they are shown",
  async () => {
    fc.assert(
      fc.property(lengths, room, (files, maxCharacters) => {
        const change = toChange(files);
        const [forward, backward] = [shown(change, maxCharacters), shown(change, maxCharacters, true)];
        for (const { text, hunks } of [forward, backward]) {
          for (const [at, number] of hunks.entries()) {
            if (!text.includes(`${mark} hunk ${at + 1}\n@@ ${number} @@`)) return false;
          }
        }
        const sorted = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b).join();
        return sorted(forward.hunks) === sorted(backward.hunks) && forward.isCut === backward.isCut;
      }),
    );
  },
);

t.test("one long file takes nothing from the others", async (t) => {
  const { text, hunks, isCut } = shown(toChange([[100], [900_000, 20], [100], [100, 100]]), 20_000);
  t.same(hunks, [1, 2, 4, 5, 6]);
  t.ok(isCut);
  t.match(text, /left out: the rest of this hunk\n.* left out: 1 more hunk of this file/);
  t.ok(text.length > 15_000, "and has the rest itself");
});

t.test("files for which there is no room are named with their counts", async (t) => {
  const { text, isCut } = shown(toChange(Array.from({ length: 500 }, () => [2_000, 10])), 20_000);
  t.ok(isCut);
  t.match(text, /left out: \d+ files\napp: file-\d+ \(changed, 2 lines added, 0 removed\)\n/);
  t.match(text, /and \d+ more files$/);
});

t.test("what was not read is said, within the same characters", async (t) => {
  const cuts = fc.tuple(lengths, room, fc.nat({ max: MAX_COUNTED_FILES }), fc.array(fc.boolean(), { maxLength: 60 }));
  fc.assert(
    fc.property(cuts, ([files, maxCharacters, unread, areCut]) => {
      const whole = toChange(files);
      const read = { files: whole.files.map((file, at) => ({ ...file, isCut: areCut[at] ?? false })), unread };
      const { text, isCut } = shown(read, maxCharacters);
      const isPart = unread > 0 || read.files.some((file) => file.isCut);
      return text.length <= maxCharacters && (isCut || !isPart);
    }),
  );
  const { files } = toChange([[10, 10], [10]]);
  const cut = files.map((file, at) => ({ ...file, isCut: at === 1 }));
  const { text, hunks } = shown({ files: cut, unread: 7 }, 5_000);
  t.same(hunks, [1, 2, 3]);
  t.match(
    text,
    new RegExp(`\\n${mark} left out: the rest of the file\\n${mark} left out: 7 files\\n${mark} and 7 more files$`),
  );
  const long = toChange([[100, 90_000, 100]]).files.map((file) => ({ ...file, isCut: true }));
  t.match(shown({ files: long, unread: 0 }, 5_000).text, /left out: 1 more hunk of this file, the rest of the file$/);
  t.match(shown({ files: [], unread: MAX_COUNTED_FILES }, 5_000).text, /and at least 10000 more files$/);
});

t.test("a mark within marks leaves none", async (t) => {
  const depth = 2_000;
  const nested = `${mark.slice(0, 8).repeat(depth)}${mark.slice(8).repeat(depth)}`;
  for (const text of [nested, mark.repeat(3), `${mark.slice(0, 8)}${mark}${mark.slice(8)}`]) {
    const fenced = new FencedText(mark).fenced(text);
    t.notOk(fenced.includes(mark));
    t.ok(fenced.length <= text.length);
  }
});

t.test("names of files are one line each, and of bounded length", async (t) => {
  const [file] = toChange([[10]]).files;
  if (file === undefined) throw new Error("no file");
  const path = `a\n${mark} end\n${"x".repeat(5_000)}`;
  const { text } = shown({ files: [{ ...file, path }], unread: 0 }, 5_000);
  t.match(text.split("\n")[1], /^app: a {3}end x.*\(changed, 1 line added, 0 removed\)$/);
  t.ok((text.split("\n")[1]?.length ?? 0) < 600);
});

t.test("the last steps are shown within their characters, each long one cut in the middle", async (t) => {
  const step = fc.record({
    kind: fc.constantFrom("message", "tool"),
    text: fc.string({ maxLength: 5_000, size: "max" }),
    tool: fc.option(fc.string({ maxLength: 255 })),
  });
  const many = fc.array(step, { maxLength: 40 }).map((steps) => steps.map((one, index) => ({ ...one, index })));
  fc.assert(
    fc.property(many, fc.integer({ min: 1_000, max: 30_000 }), (steps, maxCharacters) => {
      const into = new FencedText(mark);
      const indexes = showSteps(into, steps, maxCharacters);
      const last = steps.slice(steps.length - indexes.length).map(({ index }) => index);
      return into.toString().length <= maxCharacters && indexes.join() === last.join();
    }),
    { numRuns: 50 },
  );
  const into = new FencedText(mark);
  const long = Array.from({ length: 150 }, (_, index) => ({ index, kind: "message", text: "x", tool: null }));
  t.equal(showSteps(into, long, 1_000_000).length, MAX_JUDGED_STEPS);
  t.match(into.toString(), /^\w+ left out: 50 earlier steps\n\w+ step 50\nmessage: x\n/);
  const text = `begin${"x".repeat(9_000)}end`;
  const one = new FencedText(mark);
  showSteps(one, [{ index: 7, kind: "tool", text, tool: "shell" }], 10_000);
  t.match(one.toString(), /step 7\ntool shell: beginx+\n\[9008 characters, the middle is left out\]\nx+end$/);
});
