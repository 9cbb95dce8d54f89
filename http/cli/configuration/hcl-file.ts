import {
  type Holder,
  type InnerBlock,
  nodesIn,
  type Syntax,
  type SyntaxNode,
  TooDeep,
  toHolder,
} from "../../../actors/config-pull-requests/edit/hcl-syntax.js";
import { parseValues } from "../../../actors/config-pull-requests/edit/hcl-values.js";
import { spliced } from "../../../actors/config-pull-requests/edit/splice.js";
import { adviseNear } from "./attribute-names.js";
import type { Expression } from "./expression.js";
import { ExpressionReader } from "./expression-reader.js";
import { type Place, type Placed, Refused, refuse, type SourceFile } from "./refused.js";
import { isMap, type Value, type ValueMap } from "./value.js";

/** A block at the top level of a file. */
export interface FileBlock {
  readonly type: string;
  readonly labels: readonly string[];
  readonly place: Place;
  /** The values, with marks for expressions. */
  readonly body: ValueMap;
  /** The positions of the values. */
  readonly holder: Holder;
}

/** A parsed file. All its blocks are of types that these commands support. */
export interface HclFile {
  readonly blocks: readonly FileBlock[];
  /** The expressions, by their marks. */
  readonly expressions: ReadonlyMap<string, Expression>;
  /** The literals of expressions, by name. */
  readonly literals: ValueMap;
}

/**
 * The block types that these commands support: the number of labels, the attributes whose values are read, and whether
 * a block may contain blocks.
 */
const blockTypes: Readonly<
  Record<string, { readonly labels: number; readonly reads: "all" | readonly string[]; readonly nested: boolean }>
> = {
  resource: { labels: 2, reads: "all", nested: true },
  locals: { labels: 0, reads: "all", nested: false },
  variable: { labels: 1, reads: ["default"], nested: false },
  import: { labels: 0, reads: ["id"], nested: false },
  // These blocks have no effect in these commands: they are for Terraform and for people.
  moved: { labels: 0, reads: [], nested: false },
  output: { labels: 1, reads: [], nested: false },
  provider: { labels: 1, reads: [], nested: true },
  terraform: { labels: 0, reads: [], nested: true },
};

const understood = Object.keys(blockTypes).join(", ");

/** Terraform's block types that these commands do not support. */
const otherBlocks = ["action", "check", "data", "ephemeral", "module", "removed"];

/** The block types inside a resource that belong to Terraform and not to the resource's schema. */
const metaBlocks = ["connection", "dynamic", "lifecycle", "provisioner"];

/**
 * Parses a file. Replaces its expressions by marks, reads the expressions from the syntax tree, and lets HashiCorp's
 * parser decode the rest. Throws {@link Refused} for anything that is not supported.
 */
export async function parseHcl(syntax: Syntax, file: SourceFile): Promise<HclFile> {
  const root = await parseSyntax(syntax, file);
  const reader = new ExpressionReader(file);
  const { members, blocks } = toHolder(file.text, root);
  const [loose] = members;
  if (loose !== undefined) refuse({ file, node: loose.node }, "an attribute outside of a block is not understood");
  const splices = blocks.flatMap((block) => {
    const { reads } = checkBlock(file, block);
    const holder = toHolder(file.text, block.node);
    const read = holder.members.filter(({ name }) => reads === "all" || reads.includes(name ?? ""));
    return [...read.flatMap(({ value }) => reader.splices(value)), ...nestedSplices(reader, file, block, holder)];
  });
  const marked = spliced(
    file.text,
    splices.sort((left, right) => left.start - right.start),
  );
  const parsed = await parseValues(file.path, `${marked}\n${reader.literalBlock()}`);
  if ("fault" in parsed) return refuseFault(file, root);
  const values: ValueMap = parsed.values;
  const counts = new Map<string, number>();
  return {
    blocks: blocks.map((block): FileBlock => {
      const { type, labels, node } = block;
      const id = JSON.stringify([type, ...labels]);
      const index = counts.get(id) ?? 0;
      counts.set(id, index + 1);
      const body = bodyAt(values, [type, ...labels, index]);
      const place = { file, node };
      if (body === null) return refuse(place, `this ${type} block is not understood`);
      return { type, labels, place, body, holder: toHolder(file.text, node) };
    }),
    expressions: reader.expressions,
    literals: bodyAt(values, [...reader.literalPath, 0]) ?? {},
  };
}

/** The values of a file of variables: `name = value`. These values contain no references. */
export interface Assignments extends Pick<HclFile, "expressions" | "literals"> {
  readonly values: ReadonlyMap<string, Placed>;
}

/** Parses a file of variables. Throws {@link Refused} for anything but values. */
export async function parseAssignments(syntax: Syntax, file: SourceFile): Promise<Assignments> {
  const root = await parseSyntax(syntax, file);
  const reader = new ExpressionReader(file);
  const { members, blocks } = toHolder(file.text, root);
  const [block] = blocks;
  if (block !== undefined) refuse({ file, node: block.node }, "a block is not understood here", NO_BLOCK);
  const marked = spliced(
    file.text,
    members.flatMap(({ value }) => reader.splices(value)),
  );
  for (const { kind, place } of reader.expressions.values()) {
    if (kind === "reference" || kind === "file" || kind === "chomp")
      refuse(place, "only values are understood in a file of variables");
  }
  const parsed = await parseValues(file.path, `${marked}\n${reader.literalBlock()}`);
  if ("fault" in parsed) return refuseFault(file, root);
  const values = members.map(({ name, node }): [string, Placed] => [
    name ?? "",
    { value: parsed.values[name ?? ""] ?? null, place: { file, node } },
  ]);
  return {
    values: new Map(values),
    expressions: reader.expressions,
    literals: bodyAt(parsed.values, [...reader.literalPath, 0]) ?? {},
  };
}

function checkBlock(file: SourceFile, { type, labels, node }: InnerBlock) {
  const place = { file, node };
  const known = Object.hasOwn(blockTypes, type) ? blockTypes[type] : undefined;
  if (known === undefined) {
    const near = otherBlocks.includes(type) ? "" : adviseNear(type, Object.keys(blockTypes));
    return refuse(place, `the block ${type} is not understood${near || `: a folder may have ${understood}`}`);
  }
  if (labels.length !== known.labels) refuse(place, `a ${type} block needs ${known.labels} labels`);
  const [inner] = known.nested ? [] : toHolder(file.text, node).blocks;
  if (inner !== undefined) refuse({ file, node: inner.node }, `the block ${inner.type} in ${type} is not understood`);
  return known;
}

/** Returns the splices in the nested blocks of a resource: objects that are written as blocks. */
function nestedSplices(
  reader: ExpressionReader,
  file: SourceFile,
  { type }: InnerBlock,
  holder: Holder,
): ReturnType<ExpressionReader["splices"]> {
  if (type !== "resource") return [];
  return holder.blocks.flatMap((block) => {
    const place = { file, node: block.node };
    if (metaBlocks.includes(block.type)) refuse(place, `the block ${block.type} is not understood in a resource`);
    if (block.labels.length > 0) refuse(place, `the block ${block.type} may not have labels`);
    const inner = toHolder(file.text, block.node);
    return [
      ...inner.members.flatMap(({ value }) => reader.splices(value)),
      ...nestedSplices(reader, file, { ...block, type }, inner),
    ];
  });
}

async function parseSyntax(syntax: Syntax, file: SourceFile): Promise<SyntaxNode> {
  // The grammar misreads two forms, so replace them by text of the same length:
  //
  // - `$$${`: HCL reads it as text, the grammar as the start of an expression.
  // - `1e3`: the grammar does not read it.
  const text = file.text
    .replace(/([$%])\1\{/g, "$1$1(")
    .replace(/(?<![\w.])\d+[eE][+-]?\d+/g, (number) => "1".repeat(number.length));
  try {
    const root = syntax.parse(text);
    return root.isBroken ? await refuseFault(file, root) : root;
  } catch (error) {
    if (isAborted(error)) throw new Refused(`${file.path}: ${TOO_LARGE}`);
    if (!(error instanceof TooDeep)) throw error;
    return refuse({ file, node: { start: error.offset } }, TOO_DEEP, TOO_DEEP);
  }
}

/** Whether the error says that a parser ran out of memory. The parsers are WebAssembly modules. */
function isAborted(error: unknown): boolean {
  return error instanceof RangeError || (error instanceof Error && error.name === "RuntimeError");
}

/** Reports a syntax error with the message of HashiCorp's parser, or else at the first broken node. */
async function refuseFault(file: SourceFile, root: SyntaxNode): Promise<never> {
  const parsed = await parseValues(file.path, file.text);
  const node = nodesIn(root, "ERROR")[0] ?? root;
  if (!("fault" in parsed)) return refuse({ file, node }, "this syntax is not understood", NOT_HCL);
  const message = /^parse config: \[(.*)\]$/s.exec(parsed.fault)?.[1] ?? parsed.fault;
  const [, line, text] = /:(\d+),[\d,:-]+ (.*)$/s.exec(message) ?? [];
  if (line === undefined) return refuse({ file, node }, `${NOT_HCL}: ${message}`, NOT_HCL);
  // The message lists all syntax errors. Report only the first: it often causes the others.
  const [first] = (text ?? "").split(/ \S+:\d+,[\d,-]+: /);
  throw new Refused(`${file.path}:${line}: ${file.isOfValues === true ? NOT_HCL : `${NOT_HCL}: ${first}`}`);
}

const NOT_HCL = "it is not HCL";
const TOO_DEEP = "it nests too deeply";
const TOO_LARGE = "it is too large for the parser: split it into several files";
const NO_BLOCK = "a block is not understood in a file of variables";

function bodyAt(values: ValueMap, path: readonly (string | number)[]): ValueMap | null {
  let value: Value | undefined = values;
  for (const part of path) {
    if (typeof value !== "object" || value === null) return null;
    value = Reflect.get(value, part);
  }
  return isMap(value) ? value : null;
}
