import type { Syntax } from "./hcl-syntax.js";
import { pathsIn, plainPath, type WrittenPath } from "./read-paths.js";

/** The paths that a file of JSON may name: each of its texts is a template, as in HCL's JSON syntax. */
export function jsonPaths(text: string, syntax: Syntax): readonly WrittenPath[] {
  const texts = textsIn(text);
  const plain = texts.filter(({ value }) => !/[$%]\{/.test(value)).map(({ value, node }) => plainPath(value, node));
  const templates = texts.filter(({ value }) => /[$%]\{/.test(value));
  let end = "END";
  while (templates.some(({ value }) => value.includes(end))) end += "_";
  let hcl = "";
  const begins = templates.map(({ value, node }) => {
    const begin = hcl.length;
    hcl += `_ = <<${end}\n${value}\n${end}\n`;
    return { begin, node };
  });
  const root = syntax.parse(hcl);
  return plain.concat(
    pathsIn(hcl, root).map((path) => {
      const of = begins.findLast(({ begin }) => begin <= path.node.start);
      return { ...path, node: of?.node ?? path.node };
    }),
  );
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
