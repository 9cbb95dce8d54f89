import type { Reading } from "../../storage/store.js";
import { getText } from "../tables/text-blobs.js";

/**
 * What the run of a replay is told of how its work should have turned out: why an earlier change was sent back, and the
 * change that was accepted. At least one of both is there.
 */
export interface RunAnswer {
  /** Digest of the note that a change was sent back with; null for none. */
  readonly note: string | null;
  /** Digests of the accepted diffs, each of a repository. */
  readonly accepted: readonly { readonly repository: string; readonly digest: string }[];
}

/** Longest answer, in characters; of a longer one the beginning is told, and that it is cut. */
export const MAX_ANSWER_CHARACTERS = 200_000;

/** The digests of the bodies that an answer refers to. */
export function digestsOfAnswer({ note, accepted }: RunAnswer): readonly string[] {
  return [...(note === null ? [] : [note]), ...accepted.map(({ digest }) => digest)];
}

/** The prompt, followed by the answer in a section of its own. */
export function addAnswer(reading: Reading, workspaceId: string, prompt: string, answer: RunAnswer): string {
  const textOf = (digest: string): string => getText(reading, workspaceId, digest);
  const parts = ["# The answer"];
  if (answer.note !== null) parts.push("An earlier attempt was sent back:", fenced("", textOf(answer.note)));
  if (answer.accepted.length > 0) {
    parts.push("The accepted change, including what the checkout already contains:");
    for (const { repository, digest } of answer.accepted) {
      parts.push(`In ${repository}:`, fenced("diff", textOf(digest)));
    }
  }
  const section = parts.join("\n\n");
  const isCut = section.length > MAX_ANSWER_CHARACTERS;
  return `${prompt}\n\n${section.slice(0, MAX_ANSWER_CHARACTERS)}${isCut ? "\n\nThe rest of the answer is left out." : ""}\n`;
}

/** A text in a fence that is longer than any in it. */
function fenced(language: string, text: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.endsWith("\n") ? text : `${text}\n`}${fence}`;
}
