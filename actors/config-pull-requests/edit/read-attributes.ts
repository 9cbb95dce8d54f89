import { listBranches, listElements, type SyntaxNode, toHolder, toInner } from "./hcl-syntax.js";
import { globbed, ID, listParts, MODULE, type Names, type Part, PROGRAM, toCall, WRITTEN } from "./path-parts.js";

/**
 * The kind of block that contains a part of a file. `reads`: its attributes may name files for the provider or a
 * command. `module`: the same, but `source` is the called module. Null for all other blocks.
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
/** Attributes that are no paths, although their names end like those of paths. */
const NAMES = /^config_context\w*$/;
const COMMAND_TEXTS =
  /(^|_)(args?|arguments|entrypoint|environment|interpreter|query|user_data|triggers\w*|keepers|input)$/;

/** Blocks, or types of resources, in which `path` is the path of a URL, or a name that is written with slashes. */
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

/** Returns the paths that the value of an attribute may name, each as its parts. */
export function attributePaths(
  { text, name, value }: { readonly text: string; readonly name: string; readonly value: SyntaxNode },
  { use, names, isUrl }: { readonly use: BlockUse; readonly names: Names; readonly isUrl: boolean },
): readonly (readonly Part[])[] {
  const isReading =
    use !== null &&
    READS.test(name) &&
    !WRITES.test(name) &&
    !NAMES.test(name) &&
    !(use === "module" && /^sources?$/.test(name));
  const isCommand = (use !== null && COMMANDS.test(name)) || name === "execute";
  const isText = (use !== null && COMMAND_TEXTS.test(name)) || name === "commands";
  const leaves = isReading || isCommand || isText ? listLeaves(text, value) : [value];
  return leaves.flatMap((leaf): readonly (readonly Part[])[] => {
    const parts = listParts(text, leaf, names);
    if (isUrlRoot(parts) || isNoPath(parts)) return [];
    if (isReading && (isOutside(parts) || (isUrl && isUrlPath(name, parts)))) return [];
    const [begin, ...rest] = parts;
    // Code that is given the module's own folder may read everything in it.
    const isFolder = (begin === MODULE || begin === PROGRAM) && rest.every((part) => /^[/.]*$/.test(String(part)));
    const isTold = parts.some((part) => part !== null);
    // A chart is a folder or the name of a chart in a registry.
    if (name === "chart" && use !== null && isTold) return [parts];
    if (isFolder || (isReading && parts.length > 0) || (READS_ANYWHERE.test(name) && isTold)) return [parts];
    return isCommand || isText
      ? listWords(parts).filter((word) => isCommand || word.some((part) => part !== null))
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

/** Whether a part of a URL, or a name with slashes, is an attribute's value: it is absolute or unknown. */
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

/**
 * Splits a command into its words. A shell variable and a wildcard can be any text. An unknown value of an option, such
 * as in `--name=${var.name}`, is no word, unless the option's name is that of a path.
 */
export function listWords(parts: readonly Part[]): readonly (readonly Part[])[] {
  const words: Part[][] = [[]];
  const values = new Set<readonly Part[]>();
  for (const part of parts) {
    if (typeof part !== "string") words.at(-1)?.push(part);
    else
      for (const piece of part.split(/([\s"'`;|&<>()=,:@]+|\$\w+|\$\{[^}]*\})/)) {
        if (/^[\s"'`;|&<>()=,:@]/.test(piece)) {
          const isValue = piece === "=" && isOption(words.at(-1) ?? []);
          words.push([]);
          if (isValue) values.add(words.at(-1) ?? []);
        } else if (/^\$[\w{]/.test(piece)) words.at(-1)?.push(null);
        else if (piece !== "") for (const each of globbed(piece)) words.at(-1)?.push(each);
      }
  }
  return words.filter((word) => {
    const isUnknown = word.every((part) => part === null);
    return word.some((part) => part !== "" && part !== ID && part !== WRITTEN) && !(isUnknown && values.has(word));
  });
}

/** Whether a word is the name of an option that takes no path. */
function isOption([name, more]: readonly Part[]): boolean {
  const [, plain] = typeof name === "string" && more === undefined ? (/^-{0,2}([A-Za-z][\w-]*)$/.exec(name) ?? []) : [];
  return plain !== undefined && !READS.test(plain.replaceAll("-", "_").toLowerCase()) && !/^(if|values?)$/.test(plain);
}
