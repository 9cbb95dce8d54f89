import { readFile } from "node:fs/promises";

/** A request that a page's reader sends. */
export interface PageCommand {
  readonly method: string;
  /** The path with its `<…>` placeholders, which the reader replaces. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body; if the command names a file, the file's content. Undefined for a request without a body. */
  readonly body: string | undefined;
}

/** `api [-i] [-X METHOD -H 'name: value'] $S/path [-d 'body' | -d @file]` */
const COMMAND =
  /^ {4}api (?:-i )?(?:-X (?<method>[A-Z]+) -H '(?<header>[\w-]+): (?<value>[^']*)' )?\$S(?<path>\/[^\n]*?)(?: -d (?:'(?<body>[^']*)'|@(?<file>\S+)))?$/gm;

/**
 * Returns all commands of a page, in order, for the main page's `api` function. Throws on a command that it cannot
 * parse.
 */
export async function readCommands(page: string): Promise<readonly PageCommand[]> {
  const text = await readFile(page, "utf8");
  const found = [...text.matchAll(COMMAND)].map(({ groups = {} }) => groups);
  const all = text.match(/^ {4}api /gm) ?? [];
  if (found.length !== all.length)
    throw new Error(`${page} has ${all.length} commands, and ${found.length} are understood`);
  return Promise.all(
    found.map(async ({ method, header = "", value, path = "", body: written, file }) => {
      const body = file === undefined ? written : await readFile(file, "utf8");
      const headers = value === undefined ? {} : { [header]: value };
      return { method: method ?? (body === undefined ? "GET" : "POST"), path, headers, body };
    }),
  );
}
