import { once } from "node:events";
import { PassThrough } from "node:stream";
import { setImmediate as later } from "node:timers/promises";
import t from "tap";
import { PromptLine } from "../../../../http/cli/command/prompt-line.js";

/** A prompt at a terminal that the test controls. */
function openTerminal() {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { isTTY: true });
  let text = "";
  output.on("data", (part: Buffer) => {
    text += part.toString();
  });
  // Returns the terminal's output without the sequences that move the cursor.
  const shown = async () => {
    await later();
    await later();
    return text.replace(/\p{Cc}\[[\d;]*[A-Z]/gu, "").replaceAll("\r", "");
  };
  return { input, output, shown, line: new PromptLine(input, output) };
}

t.test("output starts on a new line, and the question follows it again with what was typed", async (t) => {
  const { input, output, shown, line } = openTerminal();
  const answered = line.ask("Answer:");
  input.write("bl");
  await later();
  line.write(output, "connection lost");
  line.write(output, "another line");
  t.equal(await shown(), "Answer: bl\nconnection lost\nanother line\nAnswer: bl");
  input.write("ue\r");
  t.equal(await answered, "blue");
  line.write(output, "done");
  t.match(await shown(), /Answer: blue\ndone\n$/);
});

t.test("an end of the input and a withdrawal leave the question's line", async (t) => {
  const { input, output, shown, line } = openTerminal();
  const ending = new AbortController();
  const withdrawn = line.ask("First:", ending.signal);
  ending.abort();
  await t.rejects(withdrawn, { name: "AbortError" });
  line.write(output, "(already answered)");
  const ended = line.ask("Second:");
  input.write("\u0004");
  t.equal(await ended, null);
  line.write(output, "bye");
  t.equal(await shown(), "First: \n(already answered)\nSecond: \nbye\n");
});

t.test("output to a file leaves the question as it is", async (t) => {
  const { input, shown, line } = openTerminal();
  const file = new PassThrough();
  const answered = line.ask("Answer:");
  line.write(file, "a line");
  t.equal(String((await once(file, "data"))[0]), "a line\n");
  t.equal(await shown(), "Answer: ");
  input.write("\r");
  t.equal(await answered, "");
});
