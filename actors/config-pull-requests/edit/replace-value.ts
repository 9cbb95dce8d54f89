import { isDeepStrictEqual } from "node:util";
import type { HclValue, ObjectValue } from "../../export/hcl.js";
import { plainValue } from "./edit-source.js";
import { commentsIn, listElements, type SyntaxNode, toHolder, toInner, toText } from "./hcl-syntax.js";
import type { Json } from "./hcl-values.js";
import { writeHeredoc } from "./heredoc.js";
import { insertAttribute, type Manner } from "./insert-attribute.js";
import { beginsLine, indentAt, isOneLine, lineStart, newlineAt, restAfter, type Splice } from "./splice.js";
import { isList, isObject, toJson, writeLiteral } from "./value-text.js";

/** How to edit lists and objects. */
export interface Replacing {
  readonly manner: Manner;
  /** Returns an element's meaning as text. Elements with equal meaning stay unchanged. */
  readonly meaning: (element: Json) => string;
  /**
   * Refuses the edit by throwing. Called with a comment that the edit would delete, or would keep beside another value.
   */
  readonly refuseLoss: (node: SyntaxNode) => never;
}

/** A literal in the file, and its parsed value. */
interface Literal {
  readonly node: SyntaxNode;
  readonly json: Json;
}

/**
 * Replaces a literal with a new value. In a list, equal elements at both ends are not touched. In an object, only
 * members that differ change. A heredoc stays a heredoc if a heredoc can represent the new text. Any other value is
 * rewritten. New values are always literals.
 */
export function replaceValue(replacing: Replacing, { node, json }: Literal, now: HclValue): readonly Splice[] {
  if (isDeepStrictEqual(plainValue(json), toJson(now))) return [];
  const inner = toInner(node);
  if (inner.type === "tuple" && Array.isArray(json) && isList(now) && now.length > 0 && json.length > 0) {
    return replaceElements(replacing, { list: inner, json }, now);
  }
  if (inner.type === "object" && isRecord(json) && isObject(now)) {
    return replaceMembers(replacing, { node: inner, json }, now);
  }
  if (inner.type === "tuple" && isList(now) && listElements(inner).length === 0 && commentsIn(inner).length > 0) {
    return [fillList(replacing, inner, now)];
  }
  const [comment] = commentsIn(inner);
  if (comment !== undefined) replacing.refuseLoss(comment);
  return [{ start: inner.start, end: inner.end, text: written(replacing, inner, now) }];
}

function written({ manner }: Replacing, node: SyntaxNode, now: HclValue): string {
  const { text, isAligned } = manner;
  const newline = newlineAt(text, node.start);
  if (node.type === "heredoc_template" && typeof now === "string") {
    const heredoc = writeHeredoc(now, toText(text, node), newline);
    if (heredoc !== null) return heredoc;
  }
  const { endsLine } = restAfter(text, node.end, []);
  const isBetween = !endsLine && isOneLine(text, node) && !/^\s*,?\s*(\r?\n|$)/.test(text.slice(node.end));
  return writeLiteral(now, { indent: indentAt(text, node.start), newline, isOneLine: isBetween, isAligned });
}

/** Edits the members of an object or block that differ. A member that the new value lacks becomes null. */
export function replaceMembers(
  replacing: Replacing,
  { node, json }: { readonly node: SyntaxNode; readonly json: { readonly [name: string]: Json } },
  now: ObjectValue,
): readonly Splice[] {
  const { manner } = replacing;
  const holder = toHolder(manner.text, node);
  const wanted = new Map<string, HclValue>(holder.members.map(({ name }) => [name ?? "", null]));
  for (const [name, value] of now.entries) wanted.set(name, value);
  return [...wanted].flatMap(([name, value]) => {
    const member = holder.members.find((each) => each.name === name);
    if (member === undefined) return [insertAttribute({ ...manner, alike: [] }, holder, { name, value })];
    return replaceValue(replacing, { node: member.value, json: json[name] ?? null }, value);
  });
}

/**
 * Edits a list. Keeps equal elements at both ends, replaces the elements between them one by one, then adds or removes
 * the rest.
 */
function replaceElements(
  replacing: Replacing,
  { list, json }: { readonly list: SyntaxNode; readonly json: readonly Json[] },
  now: readonly HclValue[],
): readonly Splice[] {
  const elements = listElements(list);
  const had = json.map((each) => replacing.meaning(plainValue(each)));
  const has = now.map((each) => replacing.meaning(toJson(each)));
  const maxShared = Math.min(had.length, has.length);
  let begin = 0;
  while (begin < maxShared && had[begin] === has[begin]) begin += 1;
  let end = 0;
  while (end < maxShared - begin && had.at(-1 - end) === has.at(-1 - end)) end += 1;
  const [oldEnd, newEnd] = [had.length - end, has.length - end];
  const paired = Math.min(oldEnd, newEnd) - begin;
  for (let index = begin; index < oldEnd; index += 1) {
    if (index < begin + paired && isSameObject(json[index], now[index])) continue;
    const [comment] = commentsBeside(replacing.manner.text, list, index);
    if (comment !== undefined) replacing.refuseLoss(comment);
  }

  const replaced = elements.slice(begin, begin + paired).flatMap((node, index) => {
    const value = now[begin + index] ?? null;
    return replaceValue(replacing, { node, json: json[begin + index] ?? null }, value);
  });
  const more = now.slice(begin + paired, newEnd);
  if (more.length > 0) return [...replaced, ...addElements(replacing, { list, after: begin + paired - 1 }, more)];
  if (oldEnd === begin + paired) return replaced;
  return [...replaced, removeElements(replacing, list, { from: begin + paired, to: oldEnd - 1 })];
}

/** Adds elements before the end of a list that contains only comments. */
function fillList({ manner: { text, isAligned } }: Replacing, list: SyntaxNode, values: readonly HclValue[]): Splice {
  const end = list.end - 1;
  const [closing, newline] = [indentAt(text, end), newlineAt(text, end)];
  if (!beginsLine(text, end)) {
    const layout = { indent: closing, newline, isOneLine: true, isAligned };
    const gap = /\s/.test(text.charAt(end - 1)) ? "" : " ";
    return { start: end, end, text: `${gap}${values.map((value) => writeLiteral(value, layout)).join(", ")}` };
  }
  const indent = `${closing}  `;
  const layout = { indent, newline, isOneLine: false, isAligned };
  const lines = values.map((value) => `${indent}${writeLiteral(value, layout)},${newline}`);
  return { start: lineStart(text, end), end: lineStart(text, end), text: lines.join("") };
}

/** Adds elements after an index; -1 adds before the first element. */
function addElements(
  { manner: { text, isAligned }, refuseLoss }: Replacing,
  { list, after }: { readonly list: SyntaxNode; readonly after: number },
  values: readonly HclValue[],
): Splice[] {
  const elements = listElements(list);
  const beside = elements[Math.max(after, 0)] ?? list;
  const indent = indentAt(text, beside.start);
  const newline = newlineAt(text, beside.start);
  const isLines = beginsLine(text, beside.start);
  const layout = { indent, newline, isOneLine: !isLines || isOneLine(text, beside), isAligned };
  const texts = values.map((value) => writeLiteral(value, layout));
  const separator = isLines ? `${newline}${indent}` : " ";
  if (after < 0) {
    const [comment] = commentsAbove(text, list, 0);
    if (comment !== undefined) refuseLoss(comment);
    return [{ start: beside.start, end: beside.start, text: texts.map((each) => `${each},${separator}`).join("") }];
  }
  const rest = restAfter(text, beside.end, commentsIn(list));
  const isLast = after === elements.length - 1;
  if (rest.comma === null) {
    const added = texts.map((each) => `${separator}${each}`).join(",");
    if (!isLines || !rest.endsLine) return [{ start: beside.end, end: beside.end, text: `,${added}` }];
    return [
      { start: beside.end, end: beside.end, text: "," },
      { start: rest.end, end: rest.end, text: added },
    ];
  }
  // If other elements are on the line, insert right after the comma, before a comment at the end of the line.
  const at = isLines && rest.endsLine ? rest.end : rest.comma + 1;
  const added = texts.map(
    (each, index) => `${separator}${each}${isLast && index === texts.length - 1 && !rest.endsLine ? "" : ","}`,
  );
  return [{ start: at, end: at, text: added.join("") }];
}

/**
 * Removes adjacent elements. Also removes their lines if these contain nothing else. At least one element of the list
 * must remain.
 */
function removeElements(
  { manner: { text }, refuseLoss }: Replacing,
  list: SyntaxNode,
  { from, to }: { readonly from: number; readonly to: number },
): Splice {
  const elements = listElements(list);
  const [first, last] = [elements[from] ?? list, elements[to] ?? list];
  const comments = commentsIn(list);
  const rest = restAfter(text, last.end, comments);
  const next = elements[to + 1];
  const isLines = beginsLine(text, first.start) && rest.endsLine;
  const start = isLines
    ? lineStart(text, first.start)
    : next === undefined
      ? (elements[from - 1] ?? list).end
      : first.start;
  const end = isLines ? text.indexOf("\n", rest.end) + 1 : (next?.start ?? last.end);
  const lost = comments.find((each) => each.start >= start && each.end <= end);
  if (lost !== undefined) refuseLoss(lost);
  return { start, end, text: "" };
}

/**
 * Whether an object in a list is the same element before and after the edit: one of its texts, such as its name, stays.
 */
function isSameObject(json: Json | undefined, now: HclValue | undefined): boolean {
  if (json === undefined || now === undefined || !isRecord(json) || !isObject(now)) return false;
  return now.entries.some(([name, value]) => typeof value === "string" && plainValue(json[name] ?? null) === value);
}

/** Returns the comments about one element of a list: comments above the element, or beside the element on its line. */
function commentsBeside(text: string, list: SyntaxNode, index: number): readonly SyntaxNode[] {
  const elements = listElements(list);
  const { start, end } = toInner(elements[index] ?? list);
  const [previous, next] = [elements[index - 1], elements[index + 1]];
  const isAlone = ![text.slice(previous?.end ?? list.start, start), text.slice(end, next?.start ?? list.end)].some(
    (gap, side) => (side === 0 ? previous : next) !== undefined && !gap.includes("\n"),
  );
  const after = commentsIn(list).filter((comment) => {
    const gap = text.slice(end, comment.start);
    if (comment.start < end || comment.start >= (next?.start ?? list.end) || gap.includes("\n")) return false;
    // A comment at the end of a line with several elements is about the line.
    return isAlone || (text.startsWith("/*", comment.start) && !gap.includes(","));
  });
  return [...commentsAbove(text, list, index), ...after];
}

/**
 * Returns the comments directly before an element of a list: on the lines above the element, or before the element on
 * its line.
 */
function commentsAbove(text: string, list: SyntaxNode, index: number): readonly SyntaxNode[] {
  const elements = listElements(list);
  const begin = elements[index - 1]?.end ?? list.start;
  let at = toInner(elements[index] ?? list).start;
  const found: SyntaxNode[] = [];
  for (const comment of commentsIn(list)
    .filter(({ start, end }) => start >= begin && end <= at)
    .reverse()) {
    const gap = text.slice(comment.end, at);
    const isNear = /^[ \t]*(\r?\n[ \t]*)?$/.test(gap) && (beginsLine(text, comment.start) || !gap.includes("\n"));
    if (!isNear) break;
    found.unshift(comment);
    at = comment.start;
  }
  return found;
}

function isRecord(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
