import { nodesIn, type Syntax, type SyntaxNode } from "./hcl-syntax.js";
import { heredocPath, pathsIn, plainPath, type WrittenPath } from "./read-paths.js";

/** Returns the paths that a JSON file may name. Every string in it is a template, as in HCL's JSON syntax. */
export function jsonPaths(text: string, syntax: Syntax): readonly WrittenPath[] {
  const texts = textsIn(text);
  const isTemplate = ({ value }: { readonly value: string }): boolean => /[$%]\{/.test(value);
  const plain = texts.filter((each) => !isTemplate(each)).map(({ value, node }) => plainPath(value, node));
  const templates = texts.filter(isTemplate);
  const { hcl, begins } = asHeredocs(templates.map(({ value }) => value));
  const root = syntax.parse(hcl);
  const wholes = nodesIn(root, "heredoc_template").filter(({ start }) => begins.includes(start));
  const paths = [...pathsIn(hcl, root), ...wholes.map((heredoc) => heredocPath(hcl, heredoc))];
  return plain.concat(
    paths.map((path) => {
      const index = begins.findLastIndex((begin) => begin <= path.node.start);
      return { ...path, node: templates[index]?.node ?? path.node };
    }),
  );
}

/** Returns the files that the functions in a template read. All other content is plain text. */
export function templatePaths(text: string, syntax: Syntax): readonly WrittenPath[] {
  const { hcl, begins } = asHeredocs([text]);
  const root = syntax.parse(hcl);
  const body = hcl.indexOf("\n", begins[0]) + 1;
  const placed = (node: SyntaxNode): SyntaxNode => ({ ...node, start: node.start - body, end: node.end - body });
  const paths = pathsIn(hcl, root).filter(({ use }) => use === "read");
  const found = paths.map((path) => ({ ...path, node: placed(path.node) }));
  const missed = root.isBroken && found.length === 0 ? /[\w:]*file\w*\s*\(/i.exec(text) : null;
  if (missed === null) return found;
  const [start, end] = [missed.index, missed.index + missed[0].length];
  return [{ from: "any", parts: [null], use: "read", node: { ...root, start, end } }];
}

/** Writes templates as one HCL file and returns the offset at which each one starts. */
function asHeredocs(templates: readonly string[]): { readonly hcl: string; readonly begins: readonly number[] } {
  let end = "END";
  while (templates.some((template) => template.includes(end))) end += "_";
  let hcl = "";
  const begins: number[] = [];
  for (const template of templates) {
    hcl += "_ = ";
    begins.push(hcl.length);
    hcl += `<<${end}\n${template}\n${end}\n`;
  }
  return { hcl, begins };
}

function textsIn(text: string) {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"/g)].flatMap(({ 0: written, index }) => {
    const value = readText(written);
    const [start, end] = [index, index + written.length];
    return value === null ? [] : [{ value, node: { type: "json", start, end, isBroken: false, children: [] } }];
  });
}

function readText(written: string): string | null {
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}
