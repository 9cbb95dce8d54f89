import t from "tap";
import { EDITED_PATH, editIn, toStation, toTree, toWanted } from "../../../support/station-edit.js";

/** Returns the source with a list of skills. `rows` are the lines between its brackets. */
function source(rows: readonly string[], isOneLine = false): string {
  const list = isOneLine ? `[${rows.join(" ")}]` : ["[", ...rows.map((row) => `        ${row}`), "      ]"].join("\n");
  return `resource "service_line" "web" {
  key = "web"
  stations = [
    {
      key    = "plan"
      name   = "Plan"
      kind   = "work"
      skills = ${list}
    },
  ]
}
`;
}

interface Case {
  readonly rows: readonly string[];
  readonly was: readonly string[];
  readonly now: readonly string[];
  /** The rows after the edit; null if the edit is refused. */
  readonly after: readonly string[] | null;
  readonly isOneLine?: true;
}

const above = ["# for a", '"a",', "# for b", '"b",', '"c",'];
const beside = ['"a", # for a', '"b", // for b', '"c",'];
const inline = ['"a", /* for b */ "b", "c" /* for c */'];
const abc = ["a", "b", "c"];

const cases: readonly Case[] = [
  ...[above, beside].flatMap((rows): readonly Case[] => [
    { rows, was: abc, now: ["b", "a", "c"], after: null },
    { rows, was: abc, now: ["b", "c"], after: null },
    { rows, was: abc, now: ["a", "c"], after: null },
    { rows, was: abc, now: ["a", "x", "c"], after: null },
    { rows, was: abc, now: ["c", "a", "b"], after: null },
    { rows, was: abc, now: ["a", "b"], after: rows.slice(0, -1) },
    { rows, was: abc, now: ["a", "b", "x"], after: [...rows.slice(0, -1), '"x",'] },
    { rows, was: abc, now: ["a", "b", "c", "d"], after: [...rows, '"d",'] },
    { rows, was: abc, now: ["a", "b", "x", "c"], after: [...rows.slice(0, -1), '"x",', '"c",'] },
  ]),
  { rows: above, was: abc, now: ["x", "a", "b", "c"], after: null },
  { rows: beside, was: abc, now: ["x", "a", "b", "c"], after: ['"x",', ...beside] },
  { rows: ["/* for a", "   only */", '"a",', '"b",'], was: ["a", "b"], now: ["b"], after: null },
  { rows: ['"a",', "# for b,", "# in two lines", '"b",'], was: ["a", "b"], now: ["a", "x"], after: null },
  { rows: ["# all skills", "", '"a",', '"b",'], was: ["a", "b"], now: ["b"], after: ["# all skills", "", '"b",'] },
  { rows: ['"a", "b", # both'], was: ["a", "b"], now: ["a", "x"], after: ['"a", "x", # both'] },
  { rows: inline, was: abc, now: ["a", "x", "c"], after: null, isOneLine: true },
  { rows: inline, was: abc, now: ["a", "c"], after: null, isOneLine: true },
  { rows: inline, was: abc, now: ["a", "b", "x"], after: null, isOneLine: true },
  {
    rows: inline,
    was: abc,
    now: ["x", "b", "c"],
    after: ['"x", /* for b */ "b", "c" /* for c */'],
    isOneLine: true,
  },
];

t.test("an edit keeps each comment of a list beside its own element", async (t) => {
  for (const { rows, was, now, after, isOneLine } of cases) {
    const text = source(rows, isOneLine);
    const wanted = toWanted(toStation({ skills: was }), { skills: now });
    const outcome = await editIn(toTree({ [EDITED_PATH]: text }), wanted);
    const says = `${rows.join(" ")}: ${was.join(" ")} becomes ${now.join(" ")}`;
    if ("refused" in outcome) {
      t.equal(after === null ? outcome.refused.code : outcome.refused.message, "ambiguous", says);
      t.match(outcome.refused.message, /^At lines\/main\.tf:\d+, .* comment in skills/);
      t.equal(outcome.refused.wanted, JSON.stringify(now).replaceAll(",", ", "));
    } else t.equal(outcome.files[0]?.after, after === null ? "a refusal" : source(after, isOneLine), says);
  }
});
