import type { HclValue } from "../../export/hcl.js";
import { commentsIn, type Holder, type Member, type SyntaxNode, toText } from "./hcl-syntax.js";
import { newHeredoc } from "./heredoc.js";
import { beginsLine, indentAt, isOneLine, lineStart, newlineAt, restAfter, type Splice } from "./splice.js";
import { attributeOrder } from "./station-changes.js";
import { quoteText, writeLiteral, writeName } from "./value-text.js";

/** The layout of a source's stations. */
export interface Manner {
  readonly text: string;
  /** The line's other stations, as examples for the order of attributes. Empty for a member of an object. */
  readonly alike: readonly Holder[];
  /** Whether the `=` signs of neighbouring lines are aligned. */
  readonly isAligned: boolean;
}

/** An attribute to insert. */
export interface NewAttribute {
  readonly name: string;
  readonly value: HclValue;
}

/**
 * Inserts an attribute into a station or object that already has other attributes. If these are at least three and in
 * alphabetical order, keeps that order. Otherwise uses the attribute order of another station of the line that has this
 * attribute, or else the provider's order.
 *
 * A new line takes its neighbours' indentation and alignment; other lines are not realigned. If the station or object
 * is written on one line, the attribute goes on that line.
 */
export function insertAttribute(manner: Manner, holder: Holder, attribute: NewAttribute): Splice {
  const anchor = findAnchor(manner, holder, attribute.name);
  const comments = commentsIn(holder.node);
  return anchor.isBefore
    ? insertBefore(manner, { member: anchor.member, comments }, attribute)
    : insertAfter(manner, { holder, member: anchor.member, comments }, attribute);
}

interface Anchor {
  readonly member: Member;
  readonly isBefore: boolean;
}

/** Whether there are at least three attributes, and all of them are in alphabetical order. */
export function isAlphabetical({ members }: Pick<Holder, "members">): boolean {
  const names = members.map(({ name }) => name ?? "");
  return names.length > 2 && names.every((name, index) => index === 0 || (names[index - 1] ?? "") < name);
}

function findAnchor({ alike }: Manner, { members }: Holder, name: string): Anchor {
  const example = alike.find((each) => each.members.some((member) => member.name === name));
  const order = isAlphabetical({ members })
    ? [...members.map((member) => member.name ?? ""), name].sort()
    : (example?.members.map((member) => member.name ?? "") ?? attributeOrder);
  const place = order.indexOf(name);
  const before = [...order.slice(0, place)].reverse();
  const previous = before.map((each) => members.find((member) => member.name === each)).find((each) => each);
  if (previous !== undefined) return { member: previous, isBefore: false };
  const next = members.find((each) => order.indexOf(each.name ?? "") > place);
  if (next !== undefined) return { member: next, isBefore: true };
  const last = members.at(-1);
  if (last === undefined) throw new Error("nothing to put an attribute beside");
  return { member: last, isBefore: false };
}

function insertAfter(
  manner: Manner,
  at: { readonly holder: Holder; readonly member: Member; readonly comments: readonly SyntaxNode[] },
  attribute: NewAttribute,
): Splice {
  const { text } = manner;
  const { holder, member, comments } = at;
  const { end } = member.node;
  const rest = restAfter(text, end, comments);
  if (!rest.endsLine) return { start: end, end, text: `, ${onOneLine(manner, member, attribute)}` };
  const next = holder.members[holder.members.indexOf(member) + 1];
  const isNext = next !== undefined && text.slice(rest.end, next.node.start).trim() === "" && isSingle(text, next);
  const isBelow = isNext && text.slice(rest.end, next.node.start).split("\n").length === 2;
  const beside = isSingle(text, member) ? member : isBelow ? next : null;
  const newline = newlineAt(text, end);
  const written = onOwnLine(manner, { member, beside, hasComma: rest.comma !== null }, attribute);
  return { start: rest.end, end: rest.end, text: `${newline}${written}` };
}

function insertBefore(
  manner: Manner,
  { member, comments }: { readonly member: Member; readonly comments: readonly SyntaxNode[] },
  attribute: NewAttribute,
): Splice {
  const { text } = manner;
  const { start } = member.node;
  if (!beginsLine(text, start)) return { start, end: start, text: `${onOneLine(manner, member, attribute)}, ` };
  let at = lineStart(text, start);
  // Comments directly above the attribute belong to it.
  while (/^[ \t]*(#|\/\/)/.test(text.slice(lineStart(text, at - 1), at))) at = lineStart(text, at - 1);
  const { comma } = restAfter(text, member.node.end, comments);
  const beside = isSingle(text, member) ? member : null;
  const written = onOwnLine(manner, { member, beside, hasComma: comma !== null }, attribute);
  return { start: at, end: at, text: `${written}${newlineAt(text, start)}` };
}

function onOneLine({ text }: Manner, member: Member, { name, value }: NewAttribute): string {
  const layout = { indent: "", newline: "\n", isOneLine: true, isAligned: false };
  return `${nameLike(text, member, name)}${toGap(text, member)}${writeLiteral(value, layout)}`;
}

/**
 * Writes an attribute on a line of its own. `beside` is the attribute whose `=` sign the new line aligns with; null for
 * no alignment.
 */
function onOwnLine(
  { text, isAligned }: Manner,
  at: { readonly member: Member; readonly beside: Member | null; readonly hasComma: boolean },
  { name, value }: NewAttribute,
): string {
  const { member, beside, hasComma } = at;
  const indent = indentAt(text, member.node.start);
  const newline = newlineAt(text, member.node.start);
  const heredoc = typeof value === "string" ? newHeredoc(value, indent, newline) : null;
  const written = heredoc ?? writeLiteral(value, { indent, newline, isOneLine: false, isAligned });
  const head = nameLike(text, member, name);
  const isLine = !written.includes("\n");
  const gap = isAligned ? alignedGap(text, isLine ? beside : null, head) : toGap(text, member);
  return `${indent}${head}${gap}${written}${hasComma && heredoc === null ? "," : ""}`;
}

function alignedGap(text: string, beside: Member | null, head: string): string {
  if (beside === null) return " = ";
  const { nameNode, value } = beside;
  const sign = /[=:]/.exec(text.slice(nameNode.end, value.start));
  const width = nameNode.end - nameNode.start + (sign?.index ?? 1);
  return `${" ".repeat(Math.max(1, width - head.length))}${sign?.[0] ?? "="} `;
}

/** Returns the text between a name and its value, without extra alignment spaces. */
function toGap(text: string, { nameNode, value }: Member): string {
  const gap = text.slice(nameNode.end, value.start);
  const parts = /^([ \t]*)([=:])([ \t]*)$/.exec(gap);
  if (parts === null) return " = ";
  const [, before = "", sign = "", after = ""] = parts;
  return `${before.slice(0, 1)}${sign}${after.slice(0, 1)}`;
}

function nameLike(text: string, { nameNode }: Member, name: string): string {
  return toText(text, nameNode).startsWith('"') ? quoteText(name) : writeName(name);
}

function isSingle(text: string, { node }: Member): boolean {
  return isOneLine(text, node) && beginsLine(text, node.start);
}
