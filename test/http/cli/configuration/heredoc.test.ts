// The HCL parser sets globals. With this import, the test run gives this file its own process (`sharing-rules.ts`).
import "@cdktn/hcl2json";
import t from "tap";
import { parseValues } from "../../../../actors/config-pull-requests/edit/hcl-values.js";
import { spliced } from "../../../../actors/config-pull-requests/edit/splice.js";
import { heredocSplices } from "../../../../http/cli/configuration/heredoc.js";
import { createChance } from "../../../simulation/chance.js";

const heredocs = [
  '<<EOT\na "q" \\n \\ $$\u007Bx} %%{y} $$a \t\nb\nEOT\n',
  "<<EOT\nEOT\n",
  "<<EOT\n\n\nEOT\n",
  "<<EOT\na\r\nb\r\nEOT\r\n",
  "<<-EOT\nEOT\n",
  "<<-EOT\n   a\n\n     b\n    EOT\n",
  "<<-EOT\n   a\n  \t b\n  EOT\n",
  "<<-EOT\n    a\n  \n    b\n  EOT\n",
  "<<-EOT\n\ta\n\t\tb\n EOT\n",
  "<<-EOT\n  \u00a0 a\n      b\n    EOT\n",
];

t.test("a heredoc and its quoted text have the same value", async (t) => {
  for (const text of heredocs) {
    const [asIs, asText] = [text, spliced(text, heredocSplices(text, 0, []))].map((value) => `x = ${value}`);
    t.same(await parseValues("a.tf", asText ?? ""), await parseValues("a.tf", asIs ?? ""), text);
  }
});

t.test("heredocs of any white space have the same value as for the parser", async (t) => {
  const chance = createChance(7);
  const spaces = [" ", "  ", "    ", "\t", "\u00a0", "\u2003", "\u0085", "", ""];
  const words = ["a", "b  c", "", "", "\u0301x", "\ufeffy", "\u200d", "$$", '"', "\\"];
  const wrong: string[] = [];
  for (let round = 0; round < 300; round += 1) {
    const newline = chance.pick(["\n", "\r\n"]);
    const line = () => `${chance.pick(spaces)}${chance.pick(spaces)}${chance.pick(words)}`;
    const lines = Array.from({ length: chance.between(0, 5) }, line);
    const text = [chance.pick(["<<-EOT", "<<EOT"]), ...lines, `${chance.pick(["", "  ", "\t"])}EOT`, ""].join(newline);
    const [asIs, asText] = [text, spliced(text, heredocSplices(text, 0, []))].map((value) => `x = ${value}`);
    const [one, other] = [await parseValues("a.tf", asIs ?? ""), await parseValues("a.tf", asText ?? "")];
    if (JSON.stringify(one) !== JSON.stringify(other))
      wrong.push(`${JSON.stringify(text)}: ${JSON.stringify([one, other])}`);
  }
  t.same(wrong, []);
});

t.test("expressions of a heredoc are replaced, also at the start of an indented line", async (t) => {
  const text = "<<-EOT\n    (1) a\n      b (2)\n    EOT\n";
  const parts = ["(1)", "(2)"].map((part, index) => {
    const start = 100 + text.indexOf(part);
    return { start, end: start + part.length, text: `mark${index}` };
  });
  const moved = heredocSplices(text, 100, parts).map(({ start, end, text }) => ({
    start: start - 100,
    end: end - 100,
    text,
  }));
  t.equal(spliced(text, moved), '"mark0 a\\n  b mark1\\n"\n');
});

t.test("a long heredoc is one line for the parser, whose time is quadratic in the lines", async (t) => {
  for (const head of ["<<EOT", "<<-EOT"]) {
    for (const line of ["  a line\n", "  a line\r\n", "\ta line\n", "  \n", " \t a\n"]) {
      const text = `${head}\n${line.repeat(10_000)}EOT\n`;
      t.equal(spliced(text, heredocSplices(text, 0, [])).split("\n").length, 2);
    }
  }
});
