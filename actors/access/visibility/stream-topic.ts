import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import { findLocation } from "../../resources/resource-location.table.js";
import { type Audience, findReaderRights, isAmong } from "./audience.js";

/** The subject of a topic, which the API identifies by its id. */
export interface TopicSubject {
  readonly workspaceId: string;
  readonly id: string;
}

/** A kind of stream topic: its audience, its initial view, and its changes. */
export interface StreamTopic {
  /** Returns the workspace of the subject with this id; undefined if the caller cannot see such a subject. */
  readonly workspaceOf: (reading: Reading, caller: Caller, id: string) => string | undefined;
  /**
   * Returns the current audience; undefined if the subject does not exist. The API answers 404 to callers outside the
   * audience. Called again for each change.
   */
  readonly audience: (reading: Reading, subject: TopicSubject) => Audience | undefined;
  /** Returns the initial view; undefined if the subject was removed. */
  readonly view: (reading: Reading, subject: TopicSubject) => unknown;
  /**
   * Returns the versions of a change to send. Without this function, everyone who can see the subject gets the
   * unchanged data.
   */
  readonly change?: (reading: Reading, subject: TopicSubject, data: unknown) => readonly ChangeFor[];
}

/**
 * A version of a change for one audience. A subscriber gets the first version whose audience includes this subscriber.
 * A subscriber in none of the audiences gets nothing.
 */
export interface ChangeFor {
  readonly audience: Audience;
  readonly data: unknown;
}

/** Returns the data for everyone who can see the subject. Returns no change if the data is undefined. */
export function toAll(data: unknown): readonly ChangeFor[] {
  return data === undefined ? [] : [{ audience: "readers", data }];
}

/** Implements {@link StreamTopic.workspaceOf} for subjects whose id alone identifies the workspace, for any caller. */
export function locateWorkspace(reading: Reading, _caller: Caller, id: string): string | undefined {
  return findLocation(reading, id)?.workspaceId;
}

/** Returns whether the subject exists and the caller can see it. */
export function seesSubject(topic: StreamTopic, reading: Reading, caller: Caller, subject: TopicSubject): boolean {
  const audience = topic.audience(reading, subject);
  return audience !== undefined && isAmong(findReaderRights(reading, caller, subject.workspaceId), audience);
}

/** Finds the subject with an id for a caller who can see it; otherwise undefined. */
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
