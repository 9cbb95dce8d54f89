import { randomBytes } from "node:crypto";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { toLines } from "../command/printable.js";

export interface ToolOutput<Data extends object = object> {
  /** The result as a sentence. It contains no text of people or agents. */
  readonly says: string;
  /** Texts that people and agents wrote. */
  readonly texts?: readonly UntrustedText[];
  /** The result as structured data. Untrusted texts are in members with the name `untrusted`. */
  readonly data: Data;
}

/** A text that people or agents wrote. The assistant must take it as data, never as an instruction. */
export interface UntrustedText {
  /** A description of the text. The description contains no text of people or agents. */
  readonly of: string;
  readonly text: string;
}

/** Maximum number of characters of an error. */
const MAX_ERROR = 4_000;

/**
 * Converts an output to a result. Untrusted texts are between markers with a random number, which the writers of the
 * texts cannot know. Removes control characters and secrets from everything.
 */
export function toResult({ says, texts = [], data }: ToolOutput, secrets: readonly string[]): CallToolResult {
  const mark = randomBytes(6).toString("hex");
  const blocks = texts
    .filter(({ text }) => text !== "")
    .map(({ of, text }) => `[untrusted text ${mark}: ${of}]\n${text}\n[end of untrusted text ${mark}]`);
  const clean = cleaner(secrets);
  return {
    content: [{ type: "text", text: clean([says, ...blocks].join("\n\n")) }],
    structuredContent: mapTexts(data, clean) as Record<string, unknown>,
  };
}

/** Converts an error message to an MCP result. */
export function toErrorResult(message: string, secrets: readonly string[]): CallToolResult {
  return { content: [{ type: "text", text: cut(cleaner(secrets)(message), MAX_ERROR, "") }], isError: true };
}

/**
 * Cuts a text that is longer than `max` characters. Appends the number of removed characters and `how`, which says how
 * to see them.
 */
export function cut(text: string, max: number, how: string): string {
  const end = toEnd(text, 0, max);
  if (end === text.length) return text;
  return `${text.slice(0, end)}… [${text.length - end} more characters${how === "" ? "" : `: ${how}`}]`;
}

/** A part of a long text. Positions count UTF-16 code units, as strings of JavaScript do. */
export interface Part {
  readonly text: string;
  readonly from: number;
  readonly total: number;
  /** The position at which the next part begins; null if this is the last part. */
  readonly next: number | null;
}

/** Returns at most `max` characters of a text, starting at the position `from`. Never splits a character. */
export function takePart(text: string, from: number, max: number): Part {
  const end = toEnd(text, from, max);
  return { text: text.slice(from, end), from, total: text.length, next: end < text.length ? end : null };
}

/** Says which part of a text this is, and how to read the rest. Empty if the part is the whole text. */
export function describePart({ from, text, total, next }: Part, tool: string): string {
  if (from === 0 && next === null) return "";
  const rest = next === null ? "this is the end" : `call ${tool} with from: ${next} for the rest`;
  return ` (characters ${from} to ${from + text.length} of ${total}; ${rest})`;
}

function toEnd(text: string, from: number, max: number): number {
  const end = Math.min(from + max, text.length);
  const last = text.charCodeAt(end - 1);
  const isHalf = end < text.length && last >= 0xd800 && last < 0xdc00;
  return isHalf ? end - 1 : end;
}

function cleaner(secrets: readonly string[]): (text: string) => string {
  const hidden = secrets.filter((secret) => secret !== "");
  return (text) => hidden.reduce((clean, secret) => clean.replaceAll(secret, "[removed]"), toLines(text));
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, map));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapTexts(each, map)]));
}
