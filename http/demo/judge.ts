import type { AskedModel, ScriptedAnswer } from "./scripted-model.js";

/** Matches a line that a change adds to the index of notes. */
const LISTED = /^\+- \[.*\]\(.*\.md\)$/m;
/**
 * Matches the line before the second change in a question that compares two changes. The line starts with a marker,
 * which is different in each question.
 */
const SECOND = /^[0-9a-f]{16,64} the second change/m;

/**
 * Answers like a judging model. A change passes if it lists its note in the index. Of two changes, the one that lists
 * its note is better.
 */
export function judge({ messages, response_format }: AskedModel): ScriptedAnswer {
  const shown = messages.at(-1)?.content ?? "";
  const asked = response_format?.json_schema.schema.properties ?? {};
  return { value: "better" in Object(asked) ? comparePair(shown) : judgeChange(shown) };
}

function judgeChange(shown: string) {
  const passes = LISTED.test(shown);
  const text = passes ? "The note is listed in the index." : "The note is missing from the index.";
  return { reasons: [{ text, citations: [{ kind: "hunk", number: 1 }] }], passes };
}

function comparePair(shown: string) {
  const [first = "", second = ""] = shown.split(SECOND).map((part) => LISTED.test(part));
  const better = first === second ? "tie" : first ? "first" : "second";
  const text = better === "tie" ? "Both do as well." : `The ${better} change lists its note in the index.`;
  return { reasons: [{ text, firstHunks: [1], secondHunks: [1] }], better };
}
