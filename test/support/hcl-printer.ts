import type { Block, Entries, HclValue, ObjectValue } from "../../actors/export/hcl.js";
import type { Chance } from "../simulation/chance.js";

/** A person's style of writing HCL. */
export interface HandStyle {
  readonly newline: "\n" | "\r\n";
  /** Whether the `=` signs of consecutive lines are aligned. */
  readonly isAligned: boolean;
  readonly hasComments: boolean;
  /** How to write multi-line texts, where possible; null for quoted texts. */
  readonly heredocs: "<<" | "<<-" | null;
  /** How to write a line's stations. */
  readonly stations: "objects" | "one-line objects" | "blocks";
  /** Whether a comma follows each element of an object, even where a line break is enough. */
  readonly hasCommas: boolean;
  readonly isSorted: boolean;
}

/**
 * A piece of a file:
 *
 * - `value`: an attribute value of the marked station.
 * - `gap`: a position at which attributes may be added.
 * - `fixed`: all other text.
 */
export interface Piece {
  readonly kind: "fixed" | "value" | "gap";
  readonly text: string;
  /** The attribute of a `value` piece. */
  readonly attribute: string;
}

/** Prints blocks like a person: with the same values as the export, but written differently. */
export class HandPrinter {
  readonly pieces: Piece[] = [];
  readonly #style: HandStyle;
  readonly #chance: Chance;
  /** The station whose attributes become separate pieces. */
  readonly #marked: string;
  #comments = 0;

  constructor(style: HandStyle, chance: Chance, marked: string) {
    this.#style = style;
    this.#chance = chance;
    this.#marked = marked;
  }

  get text(): string {
    return this.pieces.map(({ text }) => text).join("");
  }

  /** Number of comments so far; their texts are `c1.` and so on. */
  get comments(): number {
    return this.#comments;
  }

  block({ type, labels, attributes }: Block): void {
    this.#ownComment("");
    this.#put(`${[type, ...labels.map((label) => `"${label}"`)].join(" ")} {${this.#style.newline}`);
    const isLine = labels[0] === "service_line" && labels[1]?.endsWith("_web") === true && labels[1].startsWith("core");
    this.#lines(attributes, { indent: "  ", isMarked: false, hasCommas: false, isLine });
    this.#put(`}${this.#style.newline}${this.#style.newline}`);
  }

  #lines(
    entries: Entries,
    { indent, isMarked, hasCommas, isLine }: { indent: string; isMarked: boolean; hasCommas: boolean; isLine: boolean },
  ): void {
    const { newline, isAligned, stations } = this.#style;
    const width = isAligned ? Math.max(...entries.map(([name]) => name.length)) : 0;
    if (isMarked) this.#gap();
    for (const [name, value] of entries) {
      this.#ownComment(indent);
      if (isLine && name === "stations" && Array.isArray(value)) {
        this.#stations(value, indent);
        continue;
      }
      const isBlocks = stations === "blocks" && isMarked && name === "judge" && isObject(value);
      const written = this.#value(value, indent, name);
      this.#put(
        `${indent}${isBlocks ? "judge" : name.padEnd(written.includes("\n") ? 0 : width)} ${isBlocks ? "" : "= "}`,
      );
      if (isMarked) this.#mark(name, written);
      else this.#put(written);
      const isHeredoc = written.startsWith("<<");
      this.#put(hasCommas && !isHeredoc ? "," : "");
      if (!isHeredoc) this.#put(this.#endComment());
      if (isMarked) this.#gap();
      this.#put(newline);
    }
  }

  #stations(stations: readonly HclValue[], indent: string): void {
    const { newline, stations: form, hasCommas } = this.#style;
    if (form !== "blocks") this.#put(`${indent}stations = [${newline}`);
    for (const station of stations) {
      if (!isObject(station)) throw new Error("a station is an object");
      const isMarked = station.entries.some(([name, value]) => name === "key" && value === this.#marked);
      const entries = this.#ordered(station.entries);
      if (form === "one-line objects") {
        this.#put(`${indent}  { `);
        this.#inline(entries, isMarked);
        this.#put(` },${this.#endComment()}${newline}`);
        continue;
      }
      const inner = form === "blocks" ? indent : `${indent}  `;
      this.#put(`${inner}${form === "blocks" ? "stations " : ""}{${newline}`);
      this.#lines(entries, {
        indent: `${inner}  `,
        isMarked,
        hasCommas: hasCommas && form !== "blocks",
        isLine: false,
      });
      this.#put(`${inner}}${form === "blocks" ? "" : ","}${newline}`);
    }
    if (form !== "blocks") this.#put(`${indent}]${newline}`);
  }

  #inline(entries: Entries, isMarked: boolean): void {
    if (isMarked) this.#gap();
    entries.forEach(([name, value], index) => {
      this.#put(`${index === 0 ? "" : ", "}${name} = `);
      if (isMarked) this.#mark(name, this.#onOneLine(value));
      else this.#put(this.#onOneLine(value));
      if (isMarked) this.#gap();
    });
  }

  /**
   * Returns a value as HCL text. Heredocs, judges and some lists have several lines. In a judge, a line can end with a
   * comment.
   */
  #value(value: HclValue, indent: string, name: string): string {
    const { newline, heredocs } = this.#style;
    if (typeof value === "string" && heredocs !== null && isHeredocText(value, newline)) {
      const lines = value.slice(0, -newline.length).split(newline);
      const inner = heredocs === "<<-" ? `${indent}  ` : "";
      const body = lines.map((line) => (line.trim() === "" ? line : `${inner}${line}`));
      return [`${heredocs}EOT`, ...body, `${heredocs === "<<-" ? indent : ""}EOT`].join(newline);
    }
    if (name === "judge" && isObject(value)) {
      const lines = value.entries.map(
        ([each, below]) => `${indent}  ${each} = ${this.#onOneLine(below)}${this.#endComment()}`,
      );
      return ["{", ...lines, `${indent}}`].join(newline);
    }
    if (Array.isArray(value) && value.length > 1 && this.#chance.onceIn(2)) {
      const lines = value.map((each) => `${indent}  ${this.#onOneLine(each)},${newline}`);
      return `[${newline}${lines.join("")}${indent}]`;
    }
    return this.#onOneLine(value);
  }

  #onOneLine(value: HclValue): string {
    if (typeof value === "string") return inQuotes(value);
    if (value === null || typeof value !== "object") return String(value);
    if (isObject(value)) {
      return `{ ${value.entries.map(([name, each]) => `${name} = ${this.#onOneLine(each)}`).join(", ")} }`;
    }
    if ("expression" in value) return value.expression;
    return `[${value.map((each) => this.#onOneLine(each)).join(", ")}]`;
  }

  #ordered(entries: Entries): Entries {
    return this.#style.isSorted ? [...entries].sort(([left], [right]) => (left < right ? -1 : 1)) : entries;
  }

  #ownComment(indent: string): void {
    if (!this.#style.hasComments || !this.#chance.onceIn(6)) return;
    this.#put(`${indent}${this.#chance.pick(["# ", "// "])}${this.#comment()}${this.#style.newline}`);
  }

  #endComment(): string {
    if (!this.#style.hasComments || !this.#chance.onceIn(4)) return "";
    const text = this.#comment();
    return this.#chance.pick([` # ${text} = "x"`, ` // ${text}`, ` /* ${text} */`]);
  }

  #comment(): string {
    this.#comments += 1;
    return `c${this.#comments}.`;
  }

  #put(text: string): void {
    this.pieces.push({ kind: "fixed", text, attribute: "" });
  }

  #mark(attribute: string, text: string): void {
    this.pieces.push({ kind: "value", text, attribute });
  }

  #gap(): void {
    this.pieces.push({ kind: "gap", text: "", attribute: "" });
  }
}

export function isObject(value: HclValue): value is ObjectValue {
  return typeof value === "object" && value !== null && !Array.isArray(value) && "entries" in value;
}

function isHeredocText(text: string, newline: string): boolean {
  const plain = text.replaceAll(newline, "\n");
  return (
    /^[^\s][\x20-\x7e\n]*\n$/.test(plain) && !/[$%]\{|EOT/.test(plain) && (newline === "\n" || !/[^\r]\n/.test(text))
  );
}

/** Quotes a text. A line break becomes `\n`, and other characters that are not plain become numeric escapes. */
function inQuotes(text: string): string {
  const written = text.replace(/[^\x20-\x7e]|["\\]|[$%](?=\{)/gu, (each) => {
    const number = (each.codePointAt(0) ?? 0).toString(16);
    if (each === "\n") return "\\n";
    return number.length > 4 ? `\\U${number.padStart(8, "0")}` : `\\u${number.padStart(4, "0")}`;
  });
  return `"${written}"`;
}
