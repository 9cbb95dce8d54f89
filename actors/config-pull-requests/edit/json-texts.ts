import type { Syntax, SyntaxNode } from "./hcl-syntax.js";
import { isFields, LABELS, readJson, toExpression } from "./json-code.js";
import { pathsIn, type WrittenPath } from "./read-paths.js";

/**
 * Returns the paths that a JSON file may name, by converting the file to HCL. For a file that is not a valid JSON
 * object, returns one entry that matches any path.
 */
export function jsonPaths(text: string, syntax: Syntax): readonly WrittenPath[] {
  const fields = readJson(text);
  if (fields === null) return [{ from: "any", parts: [null], use: "read", node: nodeAt(text, 0) }];
  let hcl = "";
  const begins: { readonly start: number; readonly at: number }[] = [];
  for (const [name, value] of Object.entries(fields)) {
    for (const { labels, content } of labelled(value, LABELS.get(name) ?? 0)) {
      begins.push({ start: hcl.length, at: Math.max(0, text.indexOf(JSON.stringify(labels.at(-1) ?? name))) });
      hcl += labels.length > 0 ? `${name} ${labels.map((each) => JSON.stringify(each)).join(" ")} {\n` : "_ {\n";
      hcl += `_ = ${toExpression({ [labels.length > 0 ? "_" : name]: content })}\n}\n`;
    }
  }
  return pathsIn(hcl, syntax.parse(hcl)).map((path) => {
    const begin = begins.findLast(({ start }) => start <= path.node.start)?.at ?? 0;
    const written = hcl.slice(path.node.start, path.node.end).trim();
    const at = text.indexOf(written, begin);
    return { ...path, node: nodeAt(text, at < 0 || written === "" ? begin : at) };
  });
}

/** Returns the content and the labels of each block in a top-level JSON value. */
function labelled(
  value: unknown,
  left: number,
  labels: readonly string[] = [],
): readonly { readonly labels: readonly string[]; readonly content: unknown }[] {
  if (left === 0) return [{ labels, content: value }];
  if (Array.isArray(value)) return value.flatMap((each: unknown) => labelled(each, left, labels));
  if (!isFields(value)) return [{ labels, content: value }];
  return Object.entries(value).flatMap(([label, below]) => labelled(below, left - 1, [...labels, label]));
}

function nodeAt(text: string, start: number): SyntaxNode {
  return { type: "json", start, end: Math.min(start + 1, text.length), isBroken: false, children: [] };
}

/**
 * Returns the paths that functions in a template read. All other content of the template is plain text. If no path is
 * found, and the template has a syntax error but seems to call a function that reads files, returns one entry that
 * matches any path.
 */
export function templatePaths(text: string, syntax: Syntax): readonly WrittenPath[] {
  const hcl = asHeredoc(text);
  const root = syntax.parse(hcl);
  const body = hcl.indexOf("\n") + 1;
  const placed = (node: SyntaxNode): SyntaxNode => ({ ...node, start: node.start - body, end: node.end - body });
  const paths = pathsIn(hcl, root).filter(({ use }) => use === "read");
  const found = paths.map((path) => ({ ...path, node: placed(path.node) }));
  const missed = root.isBroken && found.length === 0 ? /[\w:]*file\w*\s*\(/i.exec(text) : null;
  if (missed === null) return found;
  const [start, end] = [missed.index, missed.index + missed[0].length];
  return [{ from: "any", parts: [null], use: "read", node: { ...root, start, end } }];
}

function asHeredoc(template: string): string {
  let end = "END";
  while (template.includes(end)) end += "_";
  return `_ = <<${end}\n${template}\n${end}\n`;
}
