import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { CommandError, exitCodes } from "../command/exit-codes.js";
import { Refused, type SourceFile } from "./refused.js";

const MAX_FILES = 500;
/** Maximum length of an HCL file, in characters. The parsers run out of memory only far above this limit. */
const MAX_SOURCE = 4 * 1024 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;

/** Reads the files of one folder, and none outside of it. */
export class FolderFiles {
  readonly folder: string;
  #bytes = 0;
  readonly #texts = new Map<string, string>();

  /** Throws a {@link CommandError} if the folder does not exist. */
  constructor(at: string, given: string) {
    try {
      this.folder = realpathSync(resolve(at, given));
      readdirSync(this.folder);
    } catch {
      throw new CommandError(`there is no folder ${given}`, exitCodes.usage);
    }
  }

  /** Lists the names of the files directly in the folder, in order. */
  names(): readonly string[] {
    return readdirSync(this.folder).sort();
  }

  /**
   * Reads the folder's HCL. Throws {@link Refused} for files that Terraform would read but these commands do not read.
   */
  sources(): readonly SourceFile[] {
    const names = this.names();
    for (const name of names) {
      const isOther = /\.(tf\.json|tofu|tofu\.json)$/.test(name);
      if (isOther) throw new Refused(`${name}: only files that end with .tf are understood`);
      if (/^(.*_)?override\.tf$/.test(name)) {
        throw new Refused(`${name}: override files are not understood: put the values into the blocks they override`);
      }
    }
    const sources = names.filter((name) => name.endsWith(".tf") && !name.startsWith("."));
    if (sources.length === 0) throw new CommandError("the folder has no .tf file: write one with signalbox export");
    if (sources.length > MAX_FILES) throw new Refused(`the folder has more than ${MAX_FILES} .tf files`);
    return sources.map((path) => {
      const text = this.text(path);
      refuseLong({ path, text });
      return { path, text: text.replace(/^\ufeff/, "") };
    });
  }

  /**
   * Reads a file as UTF-8. Throws {@link Refused} without a position in these cases:
   *
   * - The path leads out of the folder, also through a link.
   * - The file is missing, is not UTF-8, or is too large.
   */
  text(path: string): string {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    const text = this.#read(path);
    this.#texts.set(path, text);
    return text;
  }

  #read(path: string): string {
    if (isAbsolute(path) || !this.#isInside(resolve(this.folder, path)))
      throw new Refused(`${path} is outside of the folder`);
    let real: string;
    try {
      real = realpathSync(join(this.folder, path));
    } catch {
      throw new Refused(`there is no file ${path}`);
    }
    if (!this.#isInside(real)) throw new Refused(`${path} leads outside of the folder`);
    const bytes = readWhole(real, MAX_BYTES - this.#bytes);
    if (bytes === null)
      throw new Refused(`${path} is no file, or the files have more than ${MAX_BYTES / 1024 ** 2} MiB together`);
    this.#bytes += bytes.length;
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new Refused(`${path} is not UTF-8 text`);
    }
  }

  #isInside(path: string): boolean {
    const from = relative(this.folder, path);
    return from !== "" && from !== ".." && !from.startsWith(`..${sep}`) && !isAbsolute(from);
  }
}

/** Throws {@link Refused} for a file that is too long to parse. */
export function refuseLong({ path, text }: SourceFile): void {
  if (text.length > MAX_SOURCE) throw new Refused(`${path} has more than ${MAX_SOURCE / 1024 ** 2} MiB`);
}

/** Reads a regular file of at most this size; null for anything else. */
function readWhole(path: string, most: number): Uint8Array | null {
  // Open without blocking, because opening a named pipe would wait for its writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > most) return null;
    const bytes = Buffer.alloc(stat.size);
    let at = 0;
    for (let read = 1; read > 0 && at < bytes.length; at += read)
      read = readSync(file, bytes, at, bytes.length - at, at);
    return bytes.subarray(0, at);
  } finally {
    closeSync(file);
  }
}
