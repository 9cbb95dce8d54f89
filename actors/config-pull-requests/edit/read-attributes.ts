import { listBranches, listElements, type SyntaxNode, toHolder, toInner } from "./hcl-syntax.js";
import { globbed, ID, listParts, MODULE, type Names, type Part, PROGRAM, toCall, WRITTEN } from "./path-parts.js";

/**
 * The kind of block that contains a part of a file.
 * - `reads`: the block's attributes may name files for the provider or a command.
 * - `module`: the block's attributes may name files too, but `source` is the called module.
 * - Null: any other block.
 */
export type BlockUse = "reads" | "module" | null;

/** Attributes that name a file or a folder to read, by the last word of their names. */
const READS =
  /(^|_)(files?|filenames?|dirs?|director(y|ies)|folders?|paths?|src|sources?|scripts?|contexts?|cwd|chdir|workdir|basedir|rootdir)$/;
/** Attributes with these prefixes name a file to write. */
const WRITES = /^(output|dest|destination|target|remote|mount|log|container|origin|sub)_/;
/** Attributes that name a file or a folder in any block, for example in an object of a local. */
const READS_ANYWHERE = /^(filename|folder|working_dir|\w+_(file|dir|directory)|dir|directory|source_path|src)$/;
/** Attributes whose value is a command. `execute` of a hook and `commands` of a script are in any block. */
const COMMANDS = /(^|_)(commands?|cmd|inline|program)$/;
/** Attributes whose names end like the name of a path, but whose values are not paths. */
const NAMES = /^config_context\w*$/;
const COMMAND_TEXTS =
  /(^|_)(args?|arguments|entrypoint|environment|interpreter|query|user_data|triggers\w*|keepers|input)$/;

/**
 * Block types and resource types whose attribute `path` is not a file path, but the path of a URL or a name with
 * slashes.
 */
const URL_BLOCKS =
  /^(health_check|http_get|http_check|path|path_rule|path_matcher|route|http_route|matcher|(aws_iam|aws_ssm|vault)_\w+|aws_a?lb_\w+|aws_api_gateway\w*)$/;

/** Whether `path` is the path of a URL or a name in a block with this type and first label. */
export function hasUrls(name: string, label: string): boolean {
  return URL_BLOCKS.test(name) || URL_BLOCKS.test(label);
}

/**
 * Returns the use of a block, or of an attribute that is written in place of a block. `outer` is the use of the
 * surrounding block; undefined outside of blocks.
 */
export function toUse(name: string, label: string, outer: BlockUse | undefined): BlockUse {
  if (name === "provisioner") return "reads";
  if (outer !== undefined) return outer;
  if (name === "module") return "module";
  // The service's own resources read no files. A `target` of Docker Bake reads the folder of its `context`.
  return /^(resource|data|ephemeral|action|provider|list|check|target)$/.test(name) && !label.startsWith("service_")
    ? "reads"
    : null;
}

/**
 * Returns the paths that the value of an attribute may name, each as its parts. Leaves out unknown paths in a command
 * that runs on another machine.
 */
export function attributePaths(
  { text, name, value }: { readonly text: string; readonly name: string; readonly value: SyntaxNode },
  of: { readonly use: BlockUse; readonly names: Names; readonly isUrl: boolean; readonly isRemote: boolean },
): readonly (readonly Part[])[] {
  const { use, names, isUrl } = of;
  const isReading =
    use !== null &&
    READS.test(name) &&
    !WRITES.test(name) &&
    !NAMES.test(name) &&
    !(use === "module" && /^sources?$/.test(name));
  const isCommand = (use !== null && COMMANDS.test(name)) || name === "execute";
  const isText = (use !== null && COMMAND_TEXTS.test(name)) || name === "commands";
  const leaves = isReading || isCommand || isText ? listLeaves(text, value) : [value];
  const before: Part[] = [];
  return leaves.flatMap((leaf): readonly (readonly Part[])[] => {
    const parts = listParts(text, leaf, names);
    const earlier = before.slice(-MAX_BEFORE);
    if (isCommand) before.push(...(before.length > 0 ? [" "] : []), ...parts);
    if (isUrlRoot(parts) || isNoPath(parts)) return [];
    if (isReading && (isOutside(parts) || (isUrl && isUrlPath(name, parts)))) return [];
    const [begin, ...rest] = parts;
    // Code that gets the path of the module's own folder may read every file in the folder.
    const isFolder = (begin === MODULE || begin === PROGRAM) && rest.every((part) => /^[/.]*$/.test(String(part)));
    const isTold = parts.some((part) => part !== null);
    // A chart is a folder or the name of a chart in a registry.
    if (name === "chart" && use !== null && isTold) return [parts];
    if (isFolder || (isReading && parts.length > 0) || (READS_ANYWHERE.test(name) && isTold)) return [parts];
    return isCommand || isText
      ? listWords(parts, earlier).filter((word) => (isCommand && !of.isRemote) || word.some((part) => part !== null))
      : [];
  });
}

/** Whether parts are only an id, or only the path of a file that is not in the repository. */
export function isNoPath([part, ...more]: readonly Part[]): boolean {
  return more.length === 0 && (part === ID || part === WRITTEN);
}

/** Whether a path is absolute and has an unknown end. Such a path leads to files of the machine. */
function isOutside(parts: readonly Part[]): boolean {
  const [begin] = parts;
  return typeof begin === "string" && /^[/~]/.test(begin) && !/[^/]/.test(String(parts.at(-1) ?? ""));
}

/**
 * Whether the value of an attribute is the path of a URL, or a name with slashes. This is so if the attribute is `path`
 * and its value starts with `/` or with an unknown part.
 */
function isUrlPath(name: string, parts: readonly Part[]): boolean {
  const [begin] = parts;
  return name === "path" && (begin === null || (typeof begin === "string" && begin.startsWith("/")));
}

/** Whether a text is `/`, or unknown parts between two `/`: the path of a URL or of a role, not a repository folder. */
function isUrlRoot(parts: readonly Part[]): boolean {
  return (
    parts[0] === "/" && parts.at(-1) === "/" && parts.every((part) => part === "/" || part === null || part === ID)
  );
}

/**
 * Returns the single values in a list, an object, the branches of a conditional, or the arguments of a function such as
 * `concat`.
 */
function listLeaves(text: string, expression: SyntaxNode): readonly SyntaxNode[] {
  const inner = toInner(expression);
  const read = (nodes: readonly SyntaxNode[]) => nodes.flatMap((each) => listLeaves(text, each));
  const only = inner.children.filter(({ type }) => type !== "comment");
  if (inner.type === "tuple") return read(listElements(inner));
  if (inner.type === "object") return read(toHolder(text, inner).members.map(({ value }) => value));
  if (inner.type === "conditional") return read(listBranches(inner));
  if (inner.type === "expression" && only.length === 1 && only[0]?.type === "expression") return read(only);
  if (inner.type !== "function_call") return [inner];
  const { name, given } = toCall(text, inner);
  return /^(concat|flatten|compact|distinct|toset|tolist|tomap|merge|try|coalesce)$/.test(name) ? read(given) : [inner];
}

/** Maximum number of preceding words, or of parts of preceding values of a list, to examine for a word. */
const MAX_BEFORE = 20;

/** A word of a command. */
interface Word {
  readonly parts: Part[];
  /** The text between the previous word and this one: spaces, signs and quotes. */
  readonly gap: string;
  /** Whether the word is in the command itself, not in the parts that precede the command. */
  readonly isOwn: boolean;
}

/**
 * Splits a command into its words. A shell variable and a wildcard can be any text. Leaves out:
 *
 * - the words of `before`, which are earlier parts of the same command;
 * - an unknown value of an option, as in `--name=${var.name}` and `--name ${var.name}`, unless the option's name
 *   suggests a path;
 * - a URL with an unknown end.
 */
export function listWords(parts: readonly Part[], before: readonly Part[] = []): readonly (readonly Part[])[] {
  const words = toWords(parts, before);
  return words.flatMap((word, index) => {
    const isPath = word.parts.some((part) => part !== "" && part !== ID && part !== WRITTEN);
    const isValue = word.parts.every((part) => part === null) && isOptionValue(words, index);
    return word.isOwn && isPath && !isValue && !isOpenUrl(words, index) ? [word.parts] : [];
  });
}

function toWords(parts: readonly Part[], before: readonly Part[]): readonly Word[] {
  const words: Word[] = [];
  let word: Word = { parts: [], gap: "", isOwn: before.length === 0 };
  const all: readonly Part[] = [...before, ...(before.length > 0 ? [" "] : []), ...parts];
  for (const [index, part] of all.entries()) {
    const isOwn = index >= before.length;
    const pieces: readonly Part[] =
      typeof part === "string" ? part.split(/([\s"'`;|&<>()=,:@]+|\$\w+|\$\{[^}]*\})/) : [part];
    for (const piece of pieces) {
      if (typeof piece === "string" && /^[\s"'`;|&<>()=,:@]/.test(piece)) {
        if (word.parts.length > 0) words.push(word);
        word = { parts: [], gap: word.parts.length > 0 ? piece : word.gap + piece, isOwn };
      } else if (typeof piece === "string" && /^\$[\w{]/.test(piece)) word.parts.push(null);
      else if (piece !== "") word.parts.push(...globbed(piece));
    }
  }
  return word.parts.length > 0 ? [...words, word] : words;
}

/** Returns a word of a command if the whole word is known, otherwise an empty text. */
function toPlain(word: Word | undefined): string {
  const [only, more] = word?.parts ?? [];
  return typeof only === "string" && more === undefined ? only : "";
}

/**
 * Whether a word is the value of an option or shell variable, and the name of that option or variable does not suggest
 * a path.
 */
function isOptionValue(words: readonly Word[], index: number): boolean {
  const { gap = "" } = words[index] ?? {};
  if (/^["']?[^\S\n]+["']?$/.test(gap)) {
    let at = index - 1;
    if (!isOption(toPlain(words[at]))) return false;
    while (at > index - MAX_BEFORE && OPTION.test(toPlain(words[at - 1]))) at -= 1;
    return !PROGRAMS.test(toPlain(words[at - 1]));
  }
  if (!/^=["']?$/.test(gap)) return false;
  const name = toPlain(words[index - 1]);
  let begin = index - 1;
  while (isAssigned(words[begin])) {
    begin -= 1;
    if (begin < index - MAX_BEFORE) return false;
  }
  // In `--set-file key=value`, the option, not `key`, says whether the value is a path.
  const first = toPlain(words[begin]);
  const owner = first.startsWith("-") ? first : toPlain(words[begin - 1]);
  return isValueName(name) && (!owner.startsWith("--") || isOption(owner));
}

function isUnknown(part: Part): boolean {
  return typeof part !== "string";
}

/** Whether a word is part of the same argument as the word before it. */
function isAssigned(word: Word | undefined): boolean {
  return word !== undefined && /^["']?[=,:@]+["']?$/.test(word.gap);
}

const OPTION = /^-{1,2}[A-Za-z]/;
/** Matches options whose value is a path or contains a path. */
const PATH_OPTIONS =
  /(?<!pro)file|path|dir(?!ect(?!or))|folder|input|body|template|config|value|from|(?<!re)source|src|data(?!base)|payload|context|script|volume|mount|manifest/i;
const SHORT_PATH_OPTIONS = /^-[fickCdTvFK]$/;
/** Programs whose options without a value are often followed by a file. */
const PROGRAMS =
  /^(.*\/)?(cat|cp|mv|ln|head|tail|sed|awk|grep|tar|zip|gzip|rsync|scp|source|base64|wc|\w+sum|(ba|z|da)?sh|python3?|node)$/;

/** Whether a word is an option whose value is no path. */
function isOption(name: string): boolean {
  return OPTION.test(name) && !PATH_OPTIONS.test(name) && !SHORT_PATH_OPTIONS.test(name);
}

/** Whether a name before `=` belongs to an option or variable that takes no path. */
function isValueName(name: string): boolean {
  if (name.startsWith("-")) return isOption(name);
  return (
    /^[A-Za-z][\w.-]*$/.test(name) &&
    !READS.test(name.replace(/[-.]/g, "_").toLowerCase()) &&
    !/^(if|values?)$/.test(name)
  );
}

/** Whether a word is part of a URL, and its end is unknown. */
function isOpenUrl(words: readonly Word[], index: number): boolean {
  const word = words[index];
  const end = word?.parts.at(-1);
  if (word === undefined || !word.parts.some(isUnknown) || (typeof end === "string" && /\w/.test(end))) return false;
  for (let at = index; at > Math.max(0, index - MAX_BEFORE); at -= 1) {
    const { parts, gap } = words[at] ?? word;
    const isBegin = gap === ":" && String(parts[0] ?? "").startsWith("//");
    if (isBegin) return /^(https?|wss?|s3|gs|oci|ssh|tcp|[a-z]+sql|docker)$/i.test(toPlain(words[at - 1]));
    if (!isAssigned(words[at])) return false;
  }
  return false;
}
