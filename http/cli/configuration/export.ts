import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { escaped } from "../../../actors/export/hcl.js";
import type { CommonOptions, Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import { toLines } from "../command/printable.js";

interface ExportOptions extends CommonOptions {
  readonly workspace?: string;
  readonly force?: true;
}

interface ExportedFile {
  readonly path: string;
  readonly content: string;
}

/** Writes the HCL of a workspace into a folder, or to standard output for `-`. */
export async function exportFolder(context: Context, options: ExportOptions, given = "."): Promise<void> {
  const { terminal } = context;
  const { id, slug } = await context.names.workspace(options.workspace);
  const { files: exported } = await context.client.get("/api/resources/workspaces/{id}/export", { path: { id } });
  const files = withFinalNewlines(exported);
  if (given === "-") {
    context.show({ workspace: { id, slug }, files }, () =>
      files.flatMap(({ path, content }) => [`==> ${toLines(path)} <==`, toLines(content)]),
    );
    return;
  }
  const folder = resolve(terminal.folder, given);
  checkFolder(folder);
  const paths = files.map(({ path }) => path);
  const isChanged = files.map((file) => differs(folder, file));
  const changed = files.filter((_, index) => isChanged[index] === "other");
  if (changed.length > 0 && options.force !== true) {
    const names = changed.map(({ path }) => path).join(", ");
    throw new CommandError(
      `${folder} has other versions of ${names}: pass --force to replace them, or name another folder`,
    );
  }
  const written = files.filter((_, index) => isChanged[index] !== "same");
  for (const file of written) write(folder, file);
  const result = { workspace: { id, slug }, folder, files: paths, written: written.map(({ path }) => path) };
  context.show(result, () => [
    `exported the workspace ${slug} into ${folder}: ${counted(written.length)} written, ${files.length - written.length} unchanged`,
  ]);
}

/**
 * Adds a newline to each text file that does not end with a newline, because editors would add it. `main.tf` then reads
 * these files with `chomp`, so that the values stay the same.
 */
function withFinalNewlines(files: readonly ExportedFile[]): readonly ExportedFile[] {
  const lacking = new Set(
    files.filter(({ path, content }) => !path.endsWith(".tf") && /[^\r\n]$/.test(content)).map(({ path }) => path),
  );
  const readers = new Map([...lacking].map((path) => [`file("\${path.module}/${escaped(path)}")`, path]));
  return files.map(({ path, content }) => {
    if (lacking.has(path)) return { path, content: `${content}\n` };
    if (path !== "main.tf") return { path, content };
    const reads = (call: string) => (readers.has(call) ? `chomp(${call})` : call);
    return { path, content: content.replace(/file\("\$\{path\.module\}\/(?:[^"\\]|\\.)*"\)/g, reads) };
  });
}

/** Throws a {@link CommandError} if the path, or its nearest ancestor that exists, is not a folder. */
function checkFolder(path: string): void {
  if (!existsSync(path)) return checkFolder(dirname(path));
  if (!statSync(path).isDirectory()) throw new CommandError(`${path} is no folder`);
}

function counted(count: number): string {
  return count === 1 ? "1 file" : `${count} files`;
}

/**
 * Compares a file of the export with the file in the folder. Throws a {@link CommandError} in these cases:
 *
 * - The path of the file leads outside of the folder.
 * - A part of the path is a link.
 * - Something other than a regular file has that path.
 */
function differs(folder: string, { path, content }: ExportedFile): "new" | "other" | "same" {
  const parts = path.split("/");
  if (
    path.includes("\\") ||
    path.includes("\0") ||
    parts.some((part) => part === "" || part === "." || part === "..")
  ) {
    throw new CommandError(
      `the service sent a file with the path ${JSON.stringify(path)}, which leads outside of the folder`,
    );
  }
  for (const [index] of parts.entries()) {
    const at = join(folder, ...parts.slice(0, index + 1));
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (found === undefined) return "new";
    if (found.isSymbolicLink()) throw new CommandError(`${at} is a link: the export writes no file through links`);
    const isLast = index === parts.length - 1;
    if (isLast ? !found.isFile() : !found.isDirectory()) throw new CommandError(`${at} is in the way`);
  }
  return readFileSync(join(folder, path), "utf8") === content ? "same" : "other";
}

function write(folder: string, { path, content }: ExportedFile): void {
  const file = join(folder, path);
  try {
    makeFolder(dirname(file));
    writeFileSync(join(realpathSync(folder), path), content);
  } catch (error) {
    throw new CommandError(`cannot write ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * Makes a folder and its missing ancestors one by one. Node's recursive `mkdir` does not return if it can make none of
 * them.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}
