import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { HostedAccount } from "./hosted-account.js";

/** What a commit changes: a path's new content, or null for a file that goes. */
export type FileChanges = Readonly<Record<string, string | null | SpecialFile>>;

/** A program, or a symlink with its target. */
interface SpecialFile {
  readonly mode: "100755" | "120000";
  readonly content: string;
}

/** A commit that somebody makes. */
export interface CommitWish {
  readonly branch: string;
  readonly files: FileChanges;
  readonly message?: string;
  readonly by?: HostedAccount;
  /** What it is made on: by default the branch's head, else that of `main`. */
  readonly on?: string;
}

/** What a commit says, and when it is made, as text. */
interface CommitNote {
  readonly message: string;
  readonly at: string;
}

/** Refuses changes of workflows by a token that does not allow them, as GitHub does. */
const PRE_RECEIVE = `#!/bin/sh
[ "$WORKFLOWS" = write ] && exit 0
while read before after ref; do
  for commit in $(git rev-list "$after" --not --all); do
    if git diff-tree --no-commit-id --name-only -r --root "$commit" | grep -q '^.github/workflows/'; then
      echo "refusing to allow a GitHub App to create or update workflow without workflows permission" >&2
      exit 1
    fi
  done
done
`;

/** A bare repository of the code host. */
export class HostedRepository {
  /** Its number, which stays when it is renamed. */
  readonly id: number;
  /** `owner/name` */
  name: string;
  folder: string;
  defaultBranch = "main";
  /** It can be read and nothing more. */
  isArchived = false;
  /** Refs that a rule of the repository guards: nobody makes or moves them. */
  protectedRefs: RegExp | null = null;
  /** Whether lists of its trees end early. */
  isTreeCut = false;

  #indexes = 0;

  private constructor(name: string, folder: string) {
    this.name = name;
    this.folder = folder;
    this.id = createHash("sha256").update(name).digest().readUInt32BE();
  }

  /** Renames or transfers it: it moves within the folder that holds all. */
  async moveTo(root: string, name: string): Promise<void> {
    const folder = join(root, `${name}.git`);
    await mkdir(dirname(folder), { recursive: true });
    await rename(this.folder, folder);
    Object.assign(this, { name, folder });
  }

  /** Makes one in the folder that holds all, with a first commit on `main`. */
  static async create(root: string, name: string, files: FileChanges): Promise<HostedRepository> {
    const folder = join(root, `${name}.git`);
    await mkdir(folder, { recursive: true });
    const repository = new HostedRepository(name, folder);
    await repository.git("init", "--quiet", "--bare", "--template=", "--initial-branch=main", ".");
    await repository.#serve();
    await repository.commit({ branch: "main", files, message: "first" });
    return repository;
  }

  /** Opens a bare repository that is there, with the default branch that it has. */
  static async open(root: string, name: string): Promise<HostedRepository> {
    const repository = new HostedRepository(name, join(root, `${name}.git`));
    await repository.#serve();
    repository.defaultBranch = await repository.git("symbolic-ref", "--short", "HEAD");
    return repository;
  }

  /** Has it answer over git as the code host's repositories do. */
  async #serve(): Promise<void> {
    await this.git("config", "uploadpack.allowAnySHA1InWant", "true");
    await mkdir(join(this.folder, "hooks"), { recursive: true });
    await writeFile(join(this.folder, "hooks/pre-receive"), PRE_RECEIVE, { mode: 0o755 });
  }

  async git(...args: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)("git", args, { cwd: this.folder, env, maxBuffer: 64 * 1024 * 1024 });
    return stdout.trim();
  }

  /** Makes a commit of a tree that no branch has, at a time; null where it cannot be made. */
  async commitTree(tree: string, parents: readonly string[], { message, at }: CommitNote): Promise<string | null> {
    const args = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-m", message];
    const dated = { ...env, GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at };
    return promisify(execFile)("git", args, { cwd: this.folder, env: dated }).then(
      ({ stdout }) => stdout.trim(),
      () => null,
    );
  }

  /** Makes a commit on a branch, which moves to it, also back. Returns the commit. */
  async commit({ branch, files, message = "a change", by, on }: CommitWish): Promise<string> {
    const parent = on ?? (await this.head(branch)) ?? (await this.head(this.defaultBranch));
    const { login = "someone" } = by ?? {};
    const lines = [
      ...[`commit refs/heads/${branch}`, `committer ${login} <${login}@example.com> 1700000000 +0000`],
      ...[data(message), parent === null ? "" : `from ${parent}`],
    ];
    for (const [path, content] of Object.entries(files)) {
      const { mode, content: text } =
        typeof content === "string" ? { mode: "100644", content } : (content ?? { mode: "" });
      lines.push(text === undefined ? `D ${path}` : `M ${mode} inline ${path}\n${data(text)}`);
    }
    const importing = spawn("git", ["fast-import", "--quiet", "--force"], { cwd: this.folder, env, stdio: "pipe" });
    importing.stdin.end(`${lines.filter((line) => line !== "").join("\n")}\n`);
    const [code] = await once(importing, "close");
    if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
    return (await this.head(branch)) ?? "";
  }

  /** The commit at a branch's head, or of another ref; null for none. */
  async head(branch: string): Promise<string | null> {
    const ref = branch.startsWith("refs/") ? branch : `refs/heads/${branch}`;
    return this.git("rev-parse", "--verify", "--quiet", ref).catch(() => null);
  }

  /** The commits at the heads of all branches. */
  async heads(): Promise<ReadonlyMap<string, string>> {
    const listed = await this.git("for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads");
    const lines = listed.split("\n").filter((line) => line !== "");
    return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), line.slice(line.lastIndexOf(" ") + 1)]));
  }

  /** The files of a commit, with their contents. */
  async files(commit: string): Promise<Readonly<Record<string, string>>> {
    const names = (await this.git("ls-tree", "-r", "--name-only", "-z", commit))
      .split("\0")
      .filter((name) => name !== "");
    const read = names.map(async (name) => [name, await this.git("show", `${commit}:${name}`)] as const);
    return Object.fromEntries(await Promise.all(read));
  }

  /** What a path of a commit is; null for nothing. */
  async entry(commit: string, path: string): Promise<{ mode: string; type: string; sha: string } | null> {
    const listed = await this.git("ls-tree", commit, "--", path).catch(() => "");
    const [mode = "", type = "", sha = ""] = listed.split("\t")[0]?.split(" ") ?? [];
    return mode === "" ? null : { mode, type, sha };
  }

  /** The bytes of a file of a commit. */
  async read(commit: string, path: string): Promise<Buffer> {
    return this.#show("show", `${commit}:${path}`);
  }

  /** The bytes of a blob; null for none. */
  async blob(sha: string): Promise<Buffer | null> {
    return this.#show("cat-file", "blob", sha).catch(() => null);
  }

  async #show(...args: readonly string[]): Promise<Buffer> {
    const options = { cwd: this.folder, env, maxBuffer: 64 * 1024 * 1024, encoding: "buffer" } as const;
    return (await promisify(execFile)("git", args, options)).stdout;
  }

  /** Stores bytes as a blob. */
  async write(bytes: Buffer): Promise<string> {
    const writing = spawn("git", ["hash-object", "-w", "--stdin"], { cwd: this.folder, env, stdio: "pipe" });
    const named: Buffer[] = [];
    writing.stdout.on("data", (chunk: Buffer) => named.push(chunk));
    writing.stdin.end(bytes);
    await once(writing, "close");
    return Buffer.concat(named).toString().trim();
  }

  /** A tree with other blobs at some paths; null where one of them is not there. */
  async treeOf(
    base: string,
    entries: readonly { readonly path: string; readonly mode: string; readonly sha: string }[],
  ): Promise<string | null> {
    this.#indexes += 1;
    const index = { ...env, GIT_INDEX_FILE: join(this.folder, `index-${this.#indexes}`) };
    const git = async (...args: readonly string[]) =>
      (await promisify(execFile)("git", args, { cwd: this.folder, env: index })).stdout.trim();
    try {
      await git("read-tree", base);
      for (const { path, mode, sha } of entries) {
        await git("cat-file", "-e", sha);
        await git("update-index", "--add", "--cacheinfo", `${mode},${sha},${path}`);
      }
      return await git("write-tree");
    } catch {
      return null;
    }
  }

  /** The commits from the newest back that `head` has and `base` has not. */
  async commits(base: string, head: string): Promise<readonly string[]> {
    return (await this.git("rev-list", `${base}..${head}`)).split("\n").filter((line) => line !== "");
  }

  /** What `head` changes since it left `base`, with git's letter for how. */
  async changed(base: string, head: string): Promise<readonly { readonly path: string; readonly status: string }[]> {
    const listed = await this.git("diff", "--name-status", "--no-renames", `${base}...${head}`);
    return listed
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => ({ status: line.slice(0, 1), path: line.slice(2) }));
  }

  /** The tree of the two joined; null where they conflict. */
  async joined(base: string, head: string): Promise<string | null> {
    return this.git("merge-tree", "--write-tree", base, head).then(
      (tree) => tree.split("\n")[0] ?? null,
      // Git has this command from 2.38 on; what is merely ahead does not need it.
      async () => ((await this.#isAhead(base, head)) ? this.git("rev-parse", `${head}^{tree}`) : null),
    );
  }

  async #isAhead(base: string, head: string): Promise<boolean> {
    return (await this.git("merge-base", base, head).catch(() => null)) === base;
  }

  /** Merges `head` into a branch. Returns the merge; null where they conflict. */
  async merge(branch: string, head: string, message: string): Promise<string | null> {
    const base = (await this.head(branch)) ?? "";
    const tree = await this.joined(base, head);
    if (tree === null) return null;
    const merge = await this.git("commit-tree", tree, "-p", base, "-p", head, "-m", message);
    await this.git("update-ref", `refs/heads/${branch}`, merge);
    return merge;
  }
}

const env = {
  PATH: process.env.PATH,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "host",
  GIT_AUTHOR_EMAIL: "host@example.com",
  GIT_COMMITTER_NAME: "host",
  GIT_COMMITTER_EMAIL: "host@example.com",
};

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}`;
}
