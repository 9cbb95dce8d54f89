import type { Reading } from "../../storage/store.js";
import { getText } from "../tables/text-blobs.js";

/**
 * The expected result, which a replay run's agent gets with its prompt. It has the note with which an earlier change
 * was sent back, the accepted change, or both.
 */
export interface RunAnswer {
  /** Digest of the note with which a change was sent back; null for none. */
  readonly note: string | null;
  /** Digests of the accepted diffs, one for each changed repository. */
  readonly accepted: readonly { readonly repository: string; readonly digest: string }[];
}

/** Maximum length of the answer, in characters. A longer answer is cut, with a notice. */
export const MAX_ANSWER_CHARACTERS = 200_000;

/** Lists the digests of the bodies that an answer refers to. */
export function digestsOfAnswer({ note, accepted }: RunAnswer): readonly string[] {
  return [...(note === null ? [] : [note]), ...accepted.map(({ digest }) => digest)];
}

/** Returns the prompt with the answer appended as a section. */
export function addAnswer(reading: Reading, workspaceId: string, prompt: string, answer: RunAnswer): string {
  const toText = (digest: string): string => getText(reading, workspaceId, digest);
  const parts = ["# The answer"];
  if (answer.note !== null) parts.push("An earlier attempt was sent back:", fenced("", toText(answer.note)));
  if (answer.accepted.length > 0) {
    parts.push("The accepted change, including what the checkout already contains:");
    for (const { repository, digest } of answer.accepted) {
      parts.push(`In ${repository}:`, fenced("diff", toText(digest)));
    }
  }
  const section = parts.join("\n\n");
  const isCut = section.length > MAX_ANSWER_CHARACTERS;
  return `${prompt}\n\n${section.slice(0, MAX_ANSWER_CHARACTERS)}${isCut ? "\n\nThe rest of the answer is left out." : ""}\n`;
}

/** Wraps a text in a code fence longer than any run of backticks in the text. */
function fenced(language: string, text: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.endsWith("\n") ? text : `${text}\n`}${fence}`;
}
