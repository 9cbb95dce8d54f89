import { isUtf8 } from "node:buffer";
import type { CodeHost } from "../outbound/code-host/code-host.js";
import type { RepositoryThere } from "../outbound/code-host/code-host-repository.js";
import type { CodeHostSources, HostedEntry, HostedHead } from "../outbound/code-host/code-host-sources.js";
import type { SourceTree, TreeEntry, UnreadFile } from "./edit/station-edit.js";

/** A repository at the head commit of its default branch, as an edit reads it, with the modes of its files. */
export interface HostedSource extends SourceTree {
  /** Returns the file's mode in git's notation, such as `100644`. Returns `100644` for a file that is not listed. */
  readMode(path: string): Promise<string>;
}

/** Maximum number of files that one edit reads. An edit that needs more fails with {@link TooManyReads}. */
const MAX_READS = 500;
/**
 * Maximum total length of the files that one edit reads, in UTF-16 code units. The files stay in memory until the edit
 * ends. Once the limit is exceeded, no further read starts.
 */
const MAX_READ_LENGTH = 16 * 1024 * 1024;

/** Maximum number of symlinks whose targets are read. */
const MAX_LINKS = 100;

/**
 * The edit needs more than {@link MAX_READS} files or {@link MAX_READ_LENGTH} code units, or more entries of a folder
 * than the code host lists.
 */
export class TooManyReads extends Error {
  override readonly name = "TooManyReads";
}

/**
 * Reads a repository from the code host. Requests each file and the list of entries only once. `path` is the line's
 * source.
 */
export function hostedSource(
  { sources }: Pick<CodeHost, "sources">,
  there: RepositoryThere,
  { head, path }: { readonly head: HostedHead; readonly path: string },
): HostedSource {
  const files = new Map<string, Promise<string | UnreadFile | null>>();
  let length = 0;
  let listed: ReturnType<typeof readEntries> | null = null;
  const list = () => {
    listed ??= readEntries(sources, there, { head, path });
    return listed;
  };
  return {
    async list() {
      const { entries, isWhole } = await list();
      return { entries: await readLinks(sources, there, entries), isWhole };
    },
    read(file) {
      const known = files.get(file);
      if (known !== undefined) return known;
      if (files.size >= MAX_READS) return Promise.reject(new TooManyReads(`more than ${MAX_READS} files`));
      if (length > MAX_READ_LENGTH) return Promise.reject(new TooManyReads("files of more than 16 MiB to be read"));
      const read = sources.readFile(there, { path: file, commit: head.commit }).then(async (bytes) => {
        if (bytes !== null) {
          const text = toText(bytes);
          length += typeof text === "string" ? text.length : 0;
          return text;
        }
        // A listed file without content is too large.
        const isThere = (await list()).entries.some(({ path: each, mode }) => each === file && !kinds.has(mode));
        return isThere ? ({ unread: "large" } as const) : null;
      });
      files.set(file, read);
      return read;
    },
    async readMode(file) {
      return (await list()).entries.find((entry) => entry.path === file)?.mode ?? "100644";
    },
  };
}

/**
 * Returns all entries of the repository. If the code host truncates the list, returns the direct entries of each folder
 * from the root down to the folder of `path`.
 */
async function readEntries(
  sources: CodeHostSources,
  there: RepositoryThere,
  { head, path }: { readonly head: HostedHead; readonly path: string },
): Promise<{ readonly entries: readonly HostedEntry[]; readonly isWhole: boolean }> {
  const whole = await sources.readTree(there, head.tree, true);
  if (!whole.isCut) return { entries: whole.entries, isWhole: true };
  let all: readonly HostedEntry[] = [];
  let [tree, folder] = [head.tree, ""];
  for (const name of path.split("/")) {
    const { entries, isCut } = await sources.readTree(there, tree, false);
    if (isCut) throw new TooManyReads(`more entries in ${folder === "" ? "its root" : folder} than are listed`);
    const within = folder;
    all = all.concat(entries.map((entry) => ({ ...entry, path: `${within}${entry.path}` })));
    const next = entries.find((entry) => entry.path === name && entry.mode === FOLDER);
    if (next === undefined) break;
    [tree, folder] = [next.sha, `${folder}${name}/`];
  }
  return { entries: all, isWhole: false };
}

/** Adds the targets of symlinks to the entries, for the first {@link MAX_LINKS} symlinks. */
async function readLinks(
  sources: CodeHostSources,
  there: RepositoryThere,
  entries: readonly HostedEntry[],
): Promise<readonly TreeEntry[]> {
  const links = entries.filter(({ mode }) => kinds.get(mode) === "symlink").slice(0, MAX_LINKS);
  const targets = new Map<string, string>();
  for (const { path, sha } of links) {
    const leadsTo = await sources.readBlob(there, sha);
    if (leadsTo !== null) targets.set(path, leadsTo.toString("utf8"));
  }
  return entries.map((entry) => {
    const leadsTo = targets.get(entry.path);
    return { ...toEntry(entry), ...(leadsTo !== undefined && { leadsTo }) };
  });
}

const FOLDER = "040000";

function toEntry({ path, mode }: HostedEntry): TreeEntry {
  return { path, kind: kinds.get(mode) ?? "file" };
}

/** The kinds of entries other than files, by git mode. */
const kinds: ReadonlyMap<string, TreeEntry["kind"]> = new Map([
  [FOLDER, "folder"],
  ["120000", "symlink"],
  ["160000", "submodule"],
]);

/** Decodes a file as UTF-8 text, and keeps a byte order mark. Returns the reason if the file is not UTF-8 text. */
function toText(bytes: Buffer): string | UnreadFile {
  const mark = bytes.subarray(0, 2).toString("hex");
  if (mark === "fffe" || mark === "feff" || isWide(bytes)) return { unread: "utf-16" };
  if (bytes.includes(0)) return { unread: "binary" };
  return isUtf8(bytes) ? bytes.toString("utf8") : { unread: "encoding" };
}

/**
 * Whether bytes look like UTF-16 text without a byte order mark: in the first 1,000 bytes, nearly every second byte is
 * 0.
 */
function isWide(bytes: Buffer): boolean {
  const some = bytes.subarray(0, 1_000);
  const zeros = [0, 1].map((odd) => some.filter((byte, index) => byte === 0 && index % 2 === odd).length);
  const [largest = 0, least = 0] = zeros.sort((left, right) => right - left);
  return bytes.length % 2 === 0 && least === 0 && largest > 0.4 * some.length;
}
