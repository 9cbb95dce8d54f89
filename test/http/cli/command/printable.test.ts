import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import t from "tap";
import { createPainter, toJson, toLines } from "../../../../http/cli/command/printable.js";

const HOSTILE = "a\u001b]0;title\u0007b\u001b[2Jc\u009b2Jd\u202Ee\u200bf\rg\u001b\nh\u001b[8mi";

t.test("only the styles of its own painter reach a terminal", (t) => {
  const { paint, show } = createPainter();
  t.equal(toLines(HOSTILE), "a ]0;title b [2Jc 2Jd e f g \nh [8mi");
  t.equal(show(HOSTILE), toLines(HOSTILE));
  t.equal(
    show(`${paint("bold", paint("red", `red ${HOSTILE}`))} ${paint("dim", "dim")}`),
    `\u001b[1m\u001b[31mred ${toLines(HOSTILE)}\u001b[39m\u001b[22m \u001b[2mdim\u001b[22m`,
  );
  t.equal(show("\u001b[31mred\u001b[39m"), " [31mred [39m", "a style in others' text");
  t.notMatch(show(createPainter().paint("red", "red")), "\u001b", "a style of another painter");
  t.end();
});

t.test("JSON has the same value, and only visible characters", (t) => {
  const value = { name: HOSTILE, "k\u2066y": ["\u{e0041}", "\u2028", "\ud800", "tab\tline\n", "ünïcode 日本"] };
  for (const indent of [0, 2]) {
    const text = toJson(value, indent);
    t.same(JSON.parse(text), value);
    t.equal(toLines(text), text);
    t.match(text, /\\u202e.*\\u200b.*\\u009b2J|\\u009b2Jd\\u202ee\\u200b/);
    t.match(text, "ünïcode 日本");
  }
  t.end();
});

t.test("the terminal of the process removes control characters from results, notes and questions", (t) => {
  const terminal = new URL("../../../../http/cli/command/terminal.js", import.meta.url).href;
  const script = `
    const { processTerminal } = await import(${JSON.stringify(terminal)});
    const text = ${JSON.stringify(HOSTILE)};
    for (const stream of [process.stdin, process.stderr]) stream.isTTY = true;
    const terminal = processTerminal();
    terminal.print(terminal.paint("red", text));
    terminal.note(text);
    terminal.write(text);
    await terminal.ask(text);
  `;
  const run = (env: Readonly<Record<string, string>>) =>
    spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
      cwd: fileURLToPath(new URL(".", import.meta.url)),
      input: "",
      encoding: "utf8",
      env: { PATH: process.env.PATH ?? "", ...env },
    });
  const shown = toLines(HOSTILE);
  const plain = run({ NO_COLOR: "1" });
  t.equal(plain.stdout, `${shown}\n${HOSTILE}`);
  t.ok(plain.stderr.startsWith(`${shown}\n`));
  t.ok(plain.stderr.includes(`${shown} `, shown.length), "the question");
  t.notOk(plain.stderr.includes("\u202E"));
  t.equal(run({ FORCE_COLOR: "1" }).stdout, `\u001b[31m${shown}\u001b[39m\n${HOSTILE}`);
  t.end();
});
