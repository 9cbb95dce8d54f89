import type { Reading } from "../../storage/store.js";
import type { Caller } from "../caller.js";
import { findLocation } from "../resources/resource-location.table.js";
import { type Audience, findReaderRights, isAmong } from "./audience.js";

/** The subject of a topic: something that the API names by its id. */
export interface TopicSubject {
  readonly workspaceId: string;
  readonly id: string;
}

/** One kind of topic of the stream: who may see it, its initial view, and the changes after that. */
export interface StreamTopic {
  /** The workspace of the subject with an id, or undefined when the caller could not see any such subject. */
  readonly workspaceOf: (reading: Reading, caller: Caller, id: string) => string | undefined;
  /**
   * Who may see it, as of now: the API answers 404 to all others. Undefined when the subject does not exist. Asked again
   * for each change.
   */
  readonly audience: (reading: Reading, subject: TopicSubject) => Audience | undefined;
  /** The initial view; undefined when the subject is gone. */
  readonly view: (reading: Reading, subject: TopicSubject) => unknown;
  /** What is sent of a change; without this, changes are sent unchanged to all who see the subject. */
  readonly change?: (reading: Reading, subject: TopicSubject, data: unknown) => readonly ChangeFor[];
}

/** A change as some may see it. Of several, one gets the first that is for them, and nothing when none is. */
export interface ChangeFor {
  readonly audience: Audience;
  readonly data: unknown;
}

/** A change for all who see the subject, or for nobody when there is no data. */
export function toAll(data: unknown): readonly ChangeFor[] {
  return data === undefined ? [] : [{ audience: "readers", data }];
}

/** {@link StreamTopic.workspaceOf} for a subject found by its id alone, for any caller. */
export function locateWorkspace(reading: Reading, _caller: Caller, id: string): string | undefined {
  return findLocation(reading, id)?.workspaceId;
}

/** Whether the subject exists and the caller may see it. */
export function seesSubject(topic: StreamTopic, reading: Reading, caller: Caller, subject: TopicSubject): boolean {
  const audience = topic.audience(reading, subject);
  return audience !== undefined && isAmong(findReaderRights(reading, caller, subject.workspaceId), audience);
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
  return seesSubject(topic, reading, caller, subject) ? subject : undefined;
}
