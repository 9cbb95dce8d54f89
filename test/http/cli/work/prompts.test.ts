import t from "tap";
import { Context } from "../../../../http/cli/command/context.js";
import { processTerminal } from "../../../../http/cli/command/terminal.js";
import { Prompts } from "../../../../http/cli/work/prompts.js";

/** Prompts whose questions the test answers. */
function openPrompts() {
  const notes: string[] = [];
  const asked: { readonly question: string; readonly type: (text: string) => void }[] = [];
  const terminal = {
    ...processTerminal(),
    note: (line: string) => void notes.push(line),
    ask: (question: string, signal?: AbortSignal) =>
      new Promise<string>((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        asked.push({ question, type: resolve });
      }),
  };
  const { signal } = new AbortController();
  const prompts = new Prompts(new Context(terminal, {}, { signal, onAgain: () => undefined, end: () => undefined }));
  return { prompts, asked, notes };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

t.test("a question is withdrawn while the connection is lost, and asked again after it", async (t) => {
  const { prompts, asked, notes } = openPrompts();
  const answers: string[] = [];
  const answer = async (text: string) => void answers.push(text);
  prompts.add({ id: "first", question: "First:", later: "answer the first later", answer });
  prompts.add({ id: "second", question: "Second:", later: "answer the second later", answer });
  t.equal(prompts.later, "answer the first later");
  prompts.pause();
  await settle();
  t.equal(prompts.later, null);
  t.equal(asked.length, 1, "nothing is asked meanwhile");
  prompts.resume();
  t.same(
    asked.map(({ question }) => question),
    ["First:", "First:"],
  );
  asked[1]?.type("one");
  await settle();
  t.same(answers, ["one"]);
  prompts.remove("second");
  await settle();
  t.same(notes, ["(already answered)"], "only for what was answered elsewhere");
  t.equal(prompts.later, null);
});

t.test("a question that is answered elsewhere while the connection is lost is not asked again", async (t) => {
  const { prompts, asked, notes } = openPrompts();
  prompts.add({ id: "first", question: "First:", later: "", answer: async () => undefined });
  prompts.pause();
  await settle();
  prompts.remove("first");
  prompts.resume();
  await settle();
  prompts.close();
  t.equal(asked.length, 1);
  t.same(notes, []);
});
