import type { Reading } from "../../storage/store.js";
import type { Caller } from "../caller.js";
import { findLocation } from "../resources/resource-location.table.js";

/** What a topic is about: something that the API names by its id. */
export interface TopicSubject {
  readonly workspaceId: string;
  readonly id: string;
}

/** One kind of topic of the stream: who sees it, what it shows at its beginning, and which changes after that. */
export interface StreamTopic {
  /** The workspace of what an id names, or undefined when it names nothing that the caller could see. */
  readonly workspaceOf: (reading: Reading, caller: Caller, id: string) => string | undefined;
  /** Whether it is there and the caller may see it: false where the API answers 404. Asked again for each change. */
  readonly sees: (reading: Reading, caller: Caller, subject: TopicSubject) => boolean;
  /** What it shows at its beginning; undefined when it is gone. */
  readonly view: (reading: Reading, subject: TopicSubject) => unknown;
  /** A change as the caller may see it, or undefined when they may not; without this it is shown as it is. */
  readonly change?: (reading: Reading, caller: Caller, subject: TopicSubject, data: unknown) => unknown;
}

/** {@link StreamTopic.workspaceOf} for what is found by its id, whoever asks. */
export function locateWorkspace(reading: Reading, _caller: Caller, id: string): string | undefined {
  return findLocation(reading, id)?.workspaceId;
}

/** What an id names to a caller who sees it; else undefined. */
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
