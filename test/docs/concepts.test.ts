import { readFileSync } from "node:fs";
import t from "tap";

/** The page `docs/concepts.md` defines each word of the product once, and links to the page about the word. */

const page = readFileSync("docs/concepts.md", "utf8");

t.test("each concept has one definition, in short sentences", async (t) => {
  const defined = [...page.matchAll(/^- \*\*([\w ]+)\*\*: ((?:.|\n {2})+)/gm)].map(([, word = "", text = ""]) => ({
    word,
    text: text.replace(/\s+/g, " "),
  }));
  const words = defined.map(({ word }) => word.toLowerCase());
  for (const wanted of [
    ...["workspace", "team", "line", "station", "task", "run", "runner", "runner pool", "hook", "event"],
    ...["integration", "replay set", "candidate", "replay", "check", "search"],
  ]) {
    t.equal(words.filter((word) => word === wanted).length, 1, wanted);
  }
  for (const { word, text } of defined) {
    const sentences = text.replace(/\[[^\]]+\]\([^)]+\)$/, "").split(/[.:] /);
    t.ok(sentences.length <= 4, word);
    t.ok(
      sentences.every((sentence) => sentence.split(" ").length <= 25),
      word,
    );
  }
});

t.test("its states and roles are those of the API", async (t) => {
  const api = readFileSync("http/client/api.d.ts", "utf8");
  const listed = (part: string) => [...part.matchAll(/`(\w+)`/g)].map(([, name = ""]) => `"${name}"`).join(" | ");
  const [, states = ""] = /in one state: ((?:.|\n)*?)\. \[/.exec(page) ?? [];
  t.equal(states.match(/`/g)?.length, 10);
  t.ok(api.includes(`state: ${listed(states)};`), states);
  t.ok(api.includes('"owner" | "admin" | "member"'));
  t.ok(page.includes("(owner, admin or member)"));
});
