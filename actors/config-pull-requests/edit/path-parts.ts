import { listElements, type SyntaxNode, toInner, toText } from "./hcl-syntax.js";

/** Markers for the start of a path: the module's folder, and a folder that depends on the run. */
export const MODULE = Symbol("path.module");
export const PROGRAM = Symbol("path.root, path.cwd");
/** Marks an unknown id, address or similar attribute of a resource. Such a value is not a path by itself. */
export const ID = Symbol("an id");
/** Marks the path of a file that a resource or data source writes. The file is not in the repository. */
export const WRITTEN = Symbol("a written file");
export type Part = string | null | typeof MODULE | typeof PROGRAM | typeof ID | typeof WRITTEN;

/** The value of a name: its expression, and the names that the expression may use. */
export interface NamedValue {
  readonly text: string;
  readonly node: SyntaxNode;
  readonly names: Names;
  /** Whether the expression is a `fileset` pattern. The value is then a path that matches the pattern. */
  readonly isPattern?: true;
}

/** Returns the value of a name such as `local.dir`, `var.dir`, `each.value` or a loop's variable; null if unknown. */
export type Names = (name: string) => NamedValue | null;

/** Finds no name, so that every name is unknown. */
export const noNames: Names = () => null;

/** Returns the parts of the text that an expression gives, in order. Unknown parts are null. */
export function listParts(text: string, expression: SyntaxNode, names: Names = noNames): readonly Part[] {
  const inner = toInner(expression);
  switch (inner.type) {
    case "literal_value":
    case "string_lit":
      return [escapedPart(toText(text, inner).replace(/^"|"$/g, ""))];
    case "quoted_template":
      return templateParts(text, inner, { start: inner.start + 1, end: inner.end - 1, names });
    case "heredoc_template":
      return heredocParts(text, inner, names);
    case "function_call":
      return callParts(text, inner, names);
    default:
      return namedParts(text, inner, names);
  }
}

/** Returns the parts of a heredoc's content. A heredoc has no escapes. */
function heredocParts(text: string, heredoc: SyntaxNode, names: Names = noNames): readonly Part[] {
  const begin = text.indexOf("\n", heredoc.start) + 1;
  const end = text.lastIndexOf("\n", text.slice(heredoc.start, heredoc.end).trimEnd().length + heredoc.start - 1);
  return templateParts(text, heredoc, { start: begin, end: Math.max(begin, end), names, isRaw: true });
}

function templateParts(
  text: string,
  template: SyntaxNode,
  of: { readonly start: number; readonly end: number; readonly names: Names; readonly isRaw?: boolean },
): readonly Part[] {
  const { start, end, names, isRaw = false } = of;
  const readPart = isRaw ? rawPart : escapedPart;
  let at = start;
  const parts: Part[] = [];
  for (const each of template.children.filter(({ type }) => /^template_(interpolation|directive)$/.test(type))) {
    const expression = each.type === "template_interpolation" ? each.children.find(isExpression) : undefined;
    parts.push(readPart(text.slice(at, each.start)));
    for (const part of expression === undefined ? [null] : listParts(text, expression, names)) parts.push(part);
    at = each.end;
  }
  return [...parts, readPart(text.slice(at, end))].filter((each) => each !== "");
}

/**
 * Returns the parts of the text that a call of `format`, `join` or `find_in_parent_folders` gives. For a function that
 * keeps the parts of its argument, such as `abspath`, returns those parts. The result of any other call is unknown.
 */
function callParts(text: string, call: SyntaxNode, names: Names): readonly Part[] {
  const { name, given } = toCall(text, call);
  const [first, second] = given;
  if (first === undefined) return [null];
  if (/^(abspath|pathexpand|trimspace|chomp|tostring)$/.test(name)) return listParts(text, first, names);
  if (name === "find_in_parent_folders" && second === undefined) return [null, "/", ...listParts(text, first, names)];
  if (name === "format") return formatParts(text, given, names);
  const list = second === undefined ? second : toInner(second);
  if (name !== "join" || given.length !== 2 || list?.type !== "tuple") return [null];
  const glue = listParts(text, first, names);
  return listElements(list).flatMap((each, index) => [...(index > 0 ? glue : []), ...listParts(text, each, names)]);
}

/** Returns the parts that `format` produces. Each verb takes the next value; only `%s`, `%d` and `%v` are known. */
function formatParts(text: string, [format, ...values]: readonly SyntaxNode[], names: Names): readonly Part[] {
  const [written, ...more] = format === undefined ? [null] : listParts(text, format, names);
  if (typeof written !== "string" || more.length > 0 || /%[^sdv%]/.test(written)) return [null];
  let next = 0;
  return written.split(/(%[sdv%])/).flatMap((part): readonly Part[] => {
    if (part === "%%") return ["%"];
    if (!/^%[sdv]$/.test(part)) return part === "" ? [] : [part];
    const value = values[next];
    next += 1;
    return value === undefined ? [null] : listParts(text, value, names);
  });
}

function namedParts(text: string, node: SyntaxNode, names: Names): readonly Part[] {
  const [only] = node.children.filter(({ type }) => type !== "comment");
  if (node.type === "expression" && only?.type === "expression") return listParts(text, only, names);
  const written = toText(text, node).replace(/\s+/g, "");
  if (written === "path.module") return [MODULE];
  const known = NAME.test(written) ? names(written) : null;
  if (known !== null) {
    const parts = listParts(known.text, known.node, known.names);
    return known.isPattern === true ? parts.flatMap(globbed) : parts;
  }
  if (/^path\.\w+$/.test(written)) return [PROGRAM];
  return [IDS.test(written) ? ID : WRITES.test(written) ? WRITTEN : null];
}

/** Matches the paths of files that resources and data sources write. */
const WRITES =
  /^((data\.)?archive_file\.[\w-]+(\[[^\]]*\])?\.output_path|local_(sensitive_)?file\.[\w-]+(\[[^\]]*\])?\.filename)$/;

const NAME = /^((local|var|each)\.)?[A-Za-z_][\w-]*$/;
/**
 * Matches resource attributes whose values are ids or addresses, and variables whose names end with `_id` or `_arn`.
 */
const IDS =
  /^(?!(var|local|module|path|each|count|terraform|dependency|global|values)\.)(self|(data\.)?[\w-]+\.[\w-]+(\[[^\]]*\])?)\.(id|arn|uid|url|self_link|\w+_(id|arn|ip|url|uri|dns))$|^var\.\w+_(id|arn)$/;

/** Returns the name and the arguments of a function call. */
export function toCall(text: string, call: SyntaxNode) {
  const [name, list] = [call.children[0], call.children.find(({ type }) => type === "function_arguments")];
  return { name: name === undefined ? "" : toText(text, name), given: list?.children.filter(isExpression) ?? [] };
}

/** Whether a node is a complete expression, such as an element of a list. */
export function isExpression({ type }: SyntaxNode): boolean {
  return type === "expression";
}

/**
 * Returns a text in Unicode NFC, as HCL reads it, without escapes. Null if the text contains an escaped backslash, or
 * an escape that HCL does not have.
 */
function escapedPart(written: string): string | null {
  const plain = written.replace(ESCAPE, (_, sign: string, short = "", long = "") =>
    short + long !== "" ? fromCode(Number.parseInt(`${short}${long}`, 16)) : (SIGNS.get(sign) ?? "\\"),
  );
  return plain.includes("\\") ? null : rawPart(plain);
}

function fromCode(code: number): string {
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : "\\";
}

const ESCAPE = /\\(u(?=([\da-fA-F]{4}))\2|U(?=([\da-fA-F]{8}))\3|.)/gs;
const SIGNS: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ['"', '"'],
]);

function rawPart(written: string): string {
  return written.replace(/([$%])\1\{/g, "$1{").normalize("NFC");
}

/** Splits a `fileset` pattern. Its wildcards are unknown parts. */
export function globbed(part: Part): readonly Part[] {
  if (typeof part !== "string") return [part];
  const pieces = part.split(/([*?]+|\{[^}]*\}|\[[^\]]*\])/).filter((each) => each !== "");
  return pieces.map((each) => (/^[*?{[]/.test(each) ? null : each));
}
