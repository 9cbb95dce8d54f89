import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Runs git in a folder, as a generic user. Throws with git's error output. */
export function inRepository(folder: string, ...args: readonly string[]): string {
  return execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@localhost", ...args], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** The folders and files of a repository, by relative path. A folder has no content and comes before its files. */
type Copy = ReadonlyMap<string, { readonly content: Buffer | null; readonly mode: number }>;

/** Copies of the repositories that this process has created, by their files. */
const copies = new Map<string, Copy>();
/** Maximum total size of a repository's files, in bytes. A copy of a larger repository is not kept. */
const MAX_COPIED_BYTES = 64 * 1024;

/**
 * Creates a git repository whose branch `main` has one commit with these files. Later calls with the same files copy
 * the first repository instead of running git, unless the files are larger than {@link MAX_COPIED_BYTES} in total.
 */
export function layRepository(
  folder: string,
  files: Readonly<Record<string, string | Buffer>> = { "a.txt": "one\n" },
): void {
  mkdirSync(folder, { recursive: true });
  const entries = Object.entries(files).map(([name, content]) => [name, Buffer.from(content)] as const);
  const key = JSON.stringify(entries.map(([name, content]) => [name, content.toString("base64")]));
  const copy = copies.get(key);
  if (copy !== undefined) return writeCopy(folder, copy);
  inRepository(folder, "init", "--quiet", "--initial-branch", "main");
  for (const [name, content] of entries) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  inRepository(folder, "add", ".");
  inRepository(folder, "commit", "--quiet", "-m", "Begin");
  const bytes = entries.reduce((sum, [, content]) => sum + content.length, 0);
  if (bytes <= MAX_COPIED_BYTES) copies.set(key, readCopy(folder));
}

function readCopy(folder: string): Copy {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return new Map(
    names.map((name) => {
      const path = join(folder, name);
      const stat = statSync(path);
      return [name, { content: stat.isDirectory() ? null : readFileSync(path), mode: stat.mode }];
    }),
  );
}

function writeCopy(folder: string, copy: Copy): void {
  for (const [name, { content, mode }] of copy) {
    const path = join(folder, name);
    if (content === null) mkdirSync(path, { recursive: true });
    else writeFileSync(path, content, { mode });
  }
}
