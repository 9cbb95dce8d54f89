import type { Refusal } from "../../refusal.js";
import type { NoteTask } from "../../tasks/task.messages.js";
import type { CallbackSubject } from "./callback.queries.js";

/** Maximum length of a receiver's note, in characters. */
const MAX_NOTE = 20_000;

/**
 * Returns the note that a receiver adds to its task. If the note has a key, the task stores it only once. With a null
 * key, each request adds a note. Refuses an empty note, and a note with more than {@link MAX_NOTE} characters.
 */
export function toCallbackNote(
  { hookOccurrence }: CallbackSubject,
  { text, key }: { readonly text: string; readonly key: string | null },
): NoteTask | Refusal {
  if (text === "" || [...text].length > MAX_NOTE) {
    return { refused: "bad-request", detail: "A note has 1 to 20,000 characters." };
  }
  const once = key === null ? null : `${hookOccurrence.id} ${key}`;
  return { type: "note", from: `hook ${hookOccurrence.hook}`, text, key: once };
}
