import type { TurnReading } from "../../runtime/turns/turn.js";
import type { Reading } from "../../storage/store.js";
import { whyNoMark } from "../integrations/mark-value.js";
import { findLine, findStation } from "../lines/line.queries.js";
import { isWorkspaceOpen } from "../resources/resource.table.js";
import { cutText } from "../well-formed.js";
import { findMemberByEmail } from "../workspaces/member.table.js";
import type { RaisedOpening, TaskMark, TaskRaised } from "./team-marks.messages.js";

/**
 * Integration events contain values from outside. These functions cut the values to the limits for people's input
 * before the service stores them.
 */

/** Limits in characters. */
const MAX_TITLE = 300;
const MAX_DESCRIPTION = 50_000;
const MAX_NOTE = 20_000;
const MAX_URL = 2_000;
/** Maximum length of a branch name, in bytes. */
const MAX_BRANCH_BYTES = 200;

/** Converts a text to a title of one line. */
export function toRaisedTitle(text: string): string {
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return line === "" ? "Untitled" : cutText(line, MAX_TITLE);
}

export function toRaisedDescription(text: string): string {
  return cutText(text, MAX_DESCRIPTION);
}

export function toRaisedNote(text: string): string {
  return cutText(text, MAX_NOTE);
}

/** Returns the URL if a browser may open it; empty for any other text. */
export function toRaisedUrl(text: string): string {
  const isWeb = /^https?:\/\/[^/]/i.test(text) && URL.canParse(text);
  return isWeb && text.length <= MAX_URL ? text : "";
}

/** Filters out invalid marks, and keeps the last valid mark of each kind. */
export function toTaskMarks(marks: readonly TaskMark[]): readonly TaskMark[] {
  const valid = marks.filter(({ value }) => whyNoMark(value) === null);
  return [...new Map(valid.map((mark) => [mark.kind, mark])).values()];
}

/** Returns the name of a git branch without `refs/heads/`; null if the text is no valid branch name. */
export function toBranchName(text: string): string | null {
  const name = text.trim().replace(/^refs\/heads\//, "");
  if (name === "" || name === "@" || Buffer.byteLength(name) > MAX_BRANCH_BYTES) return null;
  // The rules of git-check-ref-format(1). A leading hyphen is invalid too, because programs would read the name as an
  // option.
  if (/[\p{Cc}\s~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|[/.]$/u.test(name)) return null;
  return name.split("/").some((part) => part.startsWith(".") || part.endsWith(".lock")) ? null : name;
}

/** Merges marks into the marks of a task, by kind. */
export function addMarks(
  before: Readonly<Record<string, string>>,
  marks: readonly TaskMark[],
): Readonly<Record<string, string>> {
  return { ...before, ...Object.fromEntries(marks.map(({ kind, value }) => [kind, value])) };
}

/** Finds the user id of the team member with this email address, ignoring case; null if there is none. */
export function findAssignee(
  reading: Reading,
  workspaceId: string,
  teamId: string,
  email: string | null,
): string | null {
  const member = email === null ? undefined : findMemberByEmail(reading, workspaceId, email.trim().toLowerCase());
  return member?.teams.includes(teamId) === true ? member.userId : null;
}

/** Returns the reason why the task cannot be opened; null if it can. */
export function whyNotOpened(
  turn: TurnReading,
  { lineId, station }: Pick<RaisedOpening, "lineId" | "station">,
): TaskRaised["reason"] {
  const workspaceId = turn.self.partition;
  const isServed = isWorkspaceOpen(turn, workspaceId);
  const line = isServed ? findLine(turn, workspaceId, lineId) : undefined;
  if (line === undefined) return "line-gone";
  return station === null || findStation(line, station) !== undefined ? null : "station-gone";
}
