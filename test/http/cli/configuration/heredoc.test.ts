// The HCL parser sets globals. With this import, the test run gives this file its own process (`sharing-rules.ts`).
import "@cdktn/hcl2json";
import t from "tap";
import { parseValues } from "../../../../actors/config-pull-requests/edit/hcl-values.js";
import { spliced } from "../../../../actors/config-pull-requests/edit/splice.js";
import { heredocSplices } from "../../../../http/cli/configuration/heredoc.js";

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
    const text = `${head}\n${"  a line\n".repeat(10_000)}EOT\n`;
    t.equal(spliced(text, heredocSplices(text, 0, [])).split("\n").length, 2);
  }
});
