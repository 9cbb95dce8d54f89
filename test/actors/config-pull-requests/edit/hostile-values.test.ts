import t from "tap";
import { plainValue, valueAt } from "../../../../actors/config-pull-requests/edit/edit-source.js";
import { EDITED_PATH, editIn, editParsers, toStation, toTree, toWanted } from "../../../support/station-edit.js";

/** The start of an HCL interpolation; split so that it does not look like a JavaScript template. */
const OPEN = "$" + "{";
const hostile: readonly string[] = [
  `${OPEN}var.secret}`,
  "%{ if true }x%{ endif }",
  `$${OPEN}x} $$${OPEN}y} %%{z} %%%{z}`,
  `\\${OPEN}x} \\n \\`,
  '"quoted" "',
  "one\ntwo\n",
  "one\r\ntwo\r\n",
  "one\ntwo",
  "\n\n  indented\n\tmore\n",
  "  all\n  indented\n",
  "EOT\n  EOT\nEOT \nEOTX\nEOT_2\n",
  "<<EOT\nx\nEOT\n",
  "# no comment // /* none */\n",
  "a\u0000b\u0007\u001b[0m\u007f\u0085\n",
  "\ufeff\u2028\u2029 \u200b\n",
  "é e\u0301 💥 \u{1f468}\u200d\u{1f469}\n",
  "$ % $$ %% { } $x %y\n",
  `ends with ${OPEN}`,
  "}\n]\n}\n",
  " ",
];

/** Ways to write the prompt "Do it.\n" in a source; the last one leaves the prompt out. */
const forms: readonly string[] = [
  'prompt = "Do it.\\n"',
  "prompt = <<-EOT\n        Do it.\n      EOT",
  "prompt = <<EOT\nDo it.\nEOT",
  "",
];

function source(form: string): string {
  const station = `key = "plan"\n      name = "Plan"\n      kind = "work"\n      ${form}\n      check = "make"`;
  return `resource "service_line" "web" {\n  key = "web"\n  stations = [\n    {\n      ${station}\n    },\n  ]\n}\n`;
}

/**
 * Edits a source and returns the edited prompt, as HCL's own parser reads it. If the edit is refused, returns the
 * refusal.
 */
async function promptAfter(text: string, was: string, prompt: string): Promise<unknown> {
  const outcome = await editIn(
    toTree({ [EDITED_PATH]: text }),
    toWanted(toStation({ prompt: was, check: "make" }), { prompt }),
  );
  if ("refused" in outcome) return outcome.refused;
  const [edited] = outcome.files;
  if (edited === undefined || outcome.files.length > 1) return "not one file";
  const parsed = await (await editParsers()).parseValues(EDITED_PATH, edited.after);
  if ("fault" in parsed) return parsed.fault;
  return plainValue(valueAt(parsed.values, ["resource", "service_line", "web", 0, "stations", 0, "prompt"]) ?? null);
}

t.test("values that look like something else are read back as they are", async (t) => {
  const wrong: unknown[] = [];
  for (const [index, prompt] of hostile.entries()) {
    for (const [place, form] of forms.entries()) {
      const text = (index + place) % 2 === 0 ? source(form) : source(form).replaceAll("\n", "\r\n");
      const was = form === "" ? "" : form.startsWith("prompt = <<") && text.includes("\r") ? "Do it.\r\n" : "Do it.\n";
      const found = await promptAfter(text, was, prompt);
      if (found !== prompt.normalize("NFC")) wrong.push({ prompt, form, found });
    }
  }
  t.same(wrong, []);
});

t.test("a heredoc stays one where it can hold the text, with an end word that the text has not", async (t) => {
  const afterwards = async (form: string, prompt: string) => {
    const outcome = await editIn(
      toTree({ [EDITED_PATH]: source(form) }),
      toWanted(toStation({ prompt: "Do it.\n", check: "make" }), { prompt }),
    );
    return "files" in outcome ? (outcome.files[0]?.after ?? "") : "";
  };
  const [, flush = "", whole = ""] = forms;
  t.equal(await afterwards(flush, "A\n\n  B\n"), source("prompt = <<-EOT\n        A\n\n          B\n      EOT"));
  t.equal(await afterwards(whole, "A\n  B\n"), source("prompt = <<EOT\nA\n  B\nEOT"));
  t.equal(await afterwards(whole, "A\nEOT\n"), source("prompt = <<EOT_2\nA\nEOT\nEOT_2"));
  t.equal(await afterwards(whole, `A ${OPEN}x}\n`), source(`prompt = <<EOT\nA $${OPEN}x}\nEOT`));
  t.equal(await afterwards(whole, "A\nB"), source('prompt = "A\\nB"'), "a last line that does not end");
  t.equal(await afterwards(flush, "  A\n"), source('prompt = "  A\\n"'), "indentation that would be lost");
});

t.test("a text of 64 KB is read back as it is", async (t) => {
  const long = `${`${hostile.join(" ").replace(/[^\x20-\x7e]/g, "")}\n`.repeat(200)}`
    .slice(0, 64 * 1024 - 1)
    .concat("\n");
  const [quotes = "", heredoc = ""] = forms;
  t.equal((await promptAfter(source(quotes), "Do it.\n", long)) === long, true, "in quotes");
  const plain = long.replace(/[$%]/g, "");
  t.equal((await promptAfter(source(heredoc), "Do it.\n", plain)) === plain, true, "as a heredoc");
});

t.test("a file has exactly the wanted text, and the source stays as it is", async (t) => {
  const text = source(`prompt = file("${OPEN}path.module}/plan.md")`);
  for (const prompt of hostile) {
    const files = { [EDITED_PATH]: text, "lines/plan.md": "Do it.\n" };
    t.same(await editIn(toTree(files), toWanted(toStation({ prompt: "Do it.\n", check: "make" }), { prompt })), {
      files: [{ path: "lines/plan.md", before: "Do it.\n", after: prompt }],
    });
  }
});
