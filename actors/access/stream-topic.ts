import type { Reading } from "../../storage/store.js";
import type { Caller } from "../caller.js";
import { findLocation } from "../resources/resource-location.table.js";

/** The subject of a topic: something that the API names by its id. */
export interface TopicSubject {
  readonly workspaceId: string;
  readonly id: string;
}

/** One kind of topic of the stream: who may see it, its initial view, and the changes after that. */
export interface StreamTopic {
  /** The workspace of the subject with an id, or undefined when the caller could not see any such subject. */
  readonly workspaceOf: (reading: Reading, caller: Caller, id: string) => string | undefined;
  /** Whether it exists and the caller may see it: false where the API answers 404. Checked again for each change. */
  readonly sees: (reading: Reading, caller: Caller, subject: TopicSubject) => boolean;
  /** The initial view; undefined when the subject is gone. */
  readonly view: (reading: Reading, subject: TopicSubject) => unknown;
  /** A change as the caller may see it, or undefined when they may not; without this, changes are sent unchanged. */
  readonly change?: (reading: Reading, caller: Caller, subject: TopicSubject, data: unknown) => unknown;
}

/** {@link StreamTopic.workspaceOf} for a subject found by its id alone, for any caller. */
export function locateWorkspace(reading: Reading, _caller: Caller, id: string): string | undefined {
  return findLocation(reading, id)?.workspaceId;
}

/** The subject with an id, for a caller who may see it; else undefined. */
export function findTopicSubject(
  topic: StreamTopic,
  reading: Reading,
  caller: Caller,
  id: string,
): TopicSubject | undefined {
  const workspaceId = topic.workspaceOf(reading, caller, id);
  if (workspaceId === undefined) return undefined;
  const subject = { workspaceId, id };
  return topic.sees(reading, caller, subject) ? subject : undefined;
}
