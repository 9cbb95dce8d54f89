/**
 * A rewritten source. It replaces CEL syntax that the parser lacks (cel-spec, "Syntax"): `.5`, raw bytes `br"…"`,
 * non-ASCII characters in bytes, and quoted fields `` .`content-type` ``. Offsets can be mapped back to the original
 * source.
 */
export interface Respelled {
  readonly text: string;
  /** Maps an offset in `text` to an offset in the source. */
  sourceOffset(offset: number): number;
  /**
   * Returns the field name that a placeholder in `text` replaces. Returns any name that is not a placeholder unchanged.
   */
  toField(name: string): string;
}

const TOKENS = [
  /\/\/[^\n]*/,
  /(?<bytes>[bB][rR]?|[rR][bB])(?<quoted>"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*')/,
  /[rR]?(?:"""(?:\\[\s\S]|[^\\])*?"""|'''(?:\\[\s\S]|[^\\])*?'''|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*')/,
  /(?<=\.\s*)`(?<field>[\w./ -]+)`/,
  /[\w$]+(?:\.\d+)?/,
  /(?<point>\.)(?=\d)/,
];
const TOKEN = new RegExp(TOKENS.map(({ source }) => source).join("|"), "g");

interface Change {
  /** The end of a rewritten part in the new text, exclusive. */
  readonly end: number;
  /** The amount to add to an offset at or after `end` in the new text, to get the offset in the source. */
  readonly shift: number;
}

export function respell(source: string): Respelled {
  const fields = new Map<string, string>();
  const changes: Change[] = [];
  let text = "";
  let copied = 0;
  for (const token of source.matchAll(TOKEN)) {
    const written = rewritten(token, fields, source);
    if (written === null) continue;
    text += source.slice(copied, token.index) + written;
    copied = token.index + token[0].length;
    changes.push({ end: text.length, shift: copied - text.length });
  }
  text += source.slice(copied);
  return {
    text,
    sourceOffset: (offset) => {
      const shift = changes.filter(({ end }) => end <= offset).at(-1)?.shift ?? 0;
      return Math.min(offset + shift, source.length);
    },
    toField: (name) => fields.get(name) ?? name,
  };
}

function rewritten(token: RegExpExecArray, fields: Map<string, string>, source: string): string | null {
  const { bytes, quoted, field, point } = token.groups ?? {};
  if (point !== undefined) return "0.";
  if (field !== undefined) {
    let name = `_quoted_${fields.size}`;
    while (source.includes(name)) name += "_";
    fields.set(name, field);
    return name;
  }
  if (bytes === undefined || quoted === undefined) return null;
  const isRaw = /r/i.test(bytes);
  const quotes = /^("""|''')/.test(quoted) ? 3 : 1;
  const content = quoted.slice(quotes, -quotes);
  if (!isRaw && !/[^\0-\x7f]/.test(content)) return null;
  return isRaw ? `b"${escapedBytes(content)}"` : bytes + quoted.replace(/[^\0-\x7f]+/g, escapedBytes);
}

/** Writes every byte of the text in UTF-8 as an octal escape. */
function escapedBytes(text: string): string {
  return Array.from(Buffer.from(text), (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}
