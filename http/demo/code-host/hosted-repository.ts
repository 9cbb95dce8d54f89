import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { GitObjects } from "./git-objects.js";
import type { HostedAccount } from "./hosted-account.js";

/** The changes of a commit, by path: the new content of the file, or null to remove it. */
export type FileChanges = Readonly<Record<string, string | null | SpecialFile>>;

/** An executable file, or a symlink with its target. */
interface SpecialFile {
  readonly mode: "100755" | "120000";
  readonly content: string;
}

/** A commit to make. */
export interface CommitWish {
  readonly branch: string;
  readonly files: FileChanges;
  readonly message?: string;
  readonly by?: HostedAccount;
  /** The parent commit. By default the branch's head or, for a new branch, the head of the default branch. */
  readonly on?: string;
}

/** A commit, with its time in the form of the API. */
interface HostedCommit {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly date: string;
}

/** A commit's message, and its time as text. */
interface CommitNote {
  readonly message: string;
  readonly at: string;
}

/** Rejects a push that changes workflows if its token lacks the permission `workflows`, as GitHub does. */
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

/** The config that `git init --bare` writes, and one more setting: a fetch may request any commit, as at GitHub. */
const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
[uploadpack]
\tallowAnySHA1InWant = true
`;

/** A bare repository of the code host. */
export class HostedRepository {
  /** The repository's number, which a rename does not change. */
  readonly id: number;
  /** `owner/name` */
  name: string;
  folder: string;
  defaultBranch = "main";
  /** Whether the API refuses to write Git data. */
  isArchived = false;
  /** Refs that the API refuses to create or move. */
  protectedRefs: RegExp | null = null;
  /** Whether listings of the repository's trees say that they are truncated. */
  isTreeCut = false;

  readonly #objects: GitObjects;
  #indexes = 0;

  private constructor(name: string, folder: string) {
    this.name = name;
    this.folder = folder;
    this.#objects = new GitObjects(folder, env);
    this.id = createHash("sha256").update(name).digest().readUInt32BE();
  }

  /** Ends the git process that reads objects. */
  async close(): Promise<void> {
    await this.#objects.close();
  }

  /** Renames or transfers the repository, and moves it within the root folder. */
  async moveTo(root: string, name: string): Promise<void> {
    const folder = join(root, `${name}.git`);
    await mkdir(dirname(folder), { recursive: true });
    await rename(this.folder, folder);
    Object.assign(this, { name, folder });
  }

  /** Creates a repository in the root folder, with a first commit on `main`. */
  static async create(root: string, name: string, files: FileChanges): Promise<HostedRepository> {
    const folder = join(root, `${name}.git`);
    for (const name of ["objects", "refs"]) await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, "HEAD"), "ref: refs/heads/main\n");
    await writeFile(join(folder, "config"), CONFIG);
    const repository = new HostedRepository(name, folder);
    await repository.#putHooks();
    await repository.commit({ branch: "main", files, message: "first" });
    return repository;
  }

  /** Opens an existing bare repository with its default branch. */
  static async open(root: string, name: string): Promise<HostedRepository> {
    const repository = new HostedRepository(name, join(root, `${name}.git`));
    await repository.git("config", "uploadpack.allowAnySHA1InWant", "true");
    await repository.#putHooks();
    repository.defaultBranch = await repository.git("symbolic-ref", "--short", "HEAD");
    return repository;
  }

  async #putHooks(): Promise<void> {
    await mkdir(join(this.folder, "hooks"), { recursive: true });
    await writeFile(join(this.folder, "hooks/pre-receive"), PRE_RECEIVE, { mode: 0o755 });
  }

  async git(...args: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)("git", args, { cwd: this.folder, env, maxBuffer: 64 * 1024 * 1024 });
    return stdout.trim();
  }

  /** Creates a commit with this tree and time, outside of any branch. Returns null if git fails. */
  async commitTree(tree: string, parents: readonly string[], { message, at }: CommitNote): Promise<string | null> {
    const args = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-m", message];
    const dated = { ...env, GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at };
    return promisify(execFile)("git", args, { cwd: this.folder, env: dated }).then(
      ({ stdout }) => stdout.trim(),
      () => null,
    );
  }

  /**
   * Creates a commit and moves the branch to it, even if commits of the branch are lost. Returns the new commit's id.
   */
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

  /** Returns the head commit of a branch or another ref; null if there is none. */
  async head(branch: string): Promise<string | null> {
    const ref = branch.startsWith("refs/") ? branch : `refs/heads/${branch}`;
    return (await this.#objects.read(ref))?.id ?? null;
  }

  /** Moves a ref to a commit. */
  async point(ref: string, commit: string): Promise<void> {
    if ((await this.head(ref)) !== commit) await this.git("update-ref", ref, commit);
  }

  /** Returns the head commits of all branches, by branch name. */
  async heads(): Promise<ReadonlyMap<string, string>> {
    const listed = await this.git("for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads");
    const lines = listed.split("\n").filter((line) => line !== "");
    return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), line.slice(line.lastIndexOf(" ") + 1)]));
  }

  /** Returns the files of a commit with their trimmed contents. */
  async files(commit: string): Promise<Readonly<Record<string, string>>> {
    const names = (await this.git("ls-tree", "-r", "--name-only", "-z", commit))
      .split("\0")
      .filter((name) => name !== "");
    const read = names.map(async (name) => [name, (await this.read(commit, name)).toString().trim()] as const);
    return Object.fromEntries(await Promise.all(read));
  }

  /** Returns the entry at a path of a commit; null if there is none. */
  async entry(commit: string, path: string): Promise<{ mode: string; type: string; sha: string } | null> {
    const listed = await this.git("ls-tree", commit, "--", path).catch(() => "");
    const [mode = "", type = "", sha = ""] = listed.split("\t")[0]?.split(" ") ?? [];
    return mode === "" ? null : { mode, type, sha };
  }

  /** Returns the bytes of a file in a commit. Throws if there is no such file. */
  async read(commit: string, path: string): Promise<Buffer> {
    const object = await this.#objects.read(`${commit}:${path}`);
    if (object === null) throw new Error(`${this.name} has no ${path} at ${commit}`);
    return object.bytes;
  }

  /** Returns the bytes of a blob; null if there is none. */
  async blob(sha: string): Promise<Buffer | null> {
    const object = await this.#objects.read(sha);
    return object?.type === "blob" ? object.bytes : null;
  }

  /** Returns a commit; null if there is none. */
  async findCommit(sha: string): Promise<HostedCommit | null> {
    const object = await this.#objects.read(sha);
    if (object?.type !== "commit") return null;
    const text = object.bytes.toString();
    const end = text.indexOf("\n\n");
    const headers = text.slice(0, end).split("\n");
    const listValues = (name: string) =>
      headers.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
    const [seconds = "0"] = listValues("committer")[0]?.split(" ").slice(-2) ?? [];
    return {
      id: object.id,
      tree: listValues("tree")[0] ?? "",
      parents: listValues("parent"),
      message: text.slice(end + 2).trim(),
      date: `${new Date(Number(seconds) * 1_000).toISOString().slice(0, 19)}Z`,
    };
  }

  /** Stores bytes as a blob; returns its id. */
  async write(bytes: Buffer): Promise<string> {
    const writing = spawn("git", ["hash-object", "-w", "--stdin"], { cwd: this.folder, env, stdio: "pipe" });
    const named: Buffer[] = [];
    writing.stdout.on("data", (chunk: Buffer) => named.push(chunk));
    writing.stdin.end(bytes);
    await once(writing, "close");
    return Buffer.concat(named).toString().trim();
  }

  /**
   * Returns the id of a tree like `base`, but with other blobs at some paths. Returns null if `base` or one of the
   * blobs does not exist.
   */
  async findTree(
    base: string,
    entries: readonly { readonly path: string; readonly mode: string; readonly sha: string }[],
  ): Promise<string | null> {
    this.#indexes += 1;
    const index = { ...env, GIT_INDEX_FILE: join(this.folder, `index-${this.#indexes}`) };
    const git = async (...args: readonly string[]) =>
      (await promisify(execFile)("git", args, { cwd: this.folder, env: index })).stdout.trim();
    try {
      await git("read-tree", base);
      await git(
        "update-index",
        "--add",
        ...entries.flatMap(({ path, mode, sha }) => ["--cacheinfo", `${mode},${sha},${path}`]),
      );
      // `git write-tree` fails if a blob does not exist.
      return await git("write-tree");
    } catch {
      return null;
    }
  }

  /** Returns the commits of `head` that `base` lacks, newest first. */
  async commits(base: string, head: string): Promise<readonly string[]> {
    return (await this.git("rev-list", `${base}..${head}`)).split("\n").filter((line) => line !== "");
  }

  /** Returns the files that `head` changed since its merge base with `base`, each with git's status letter. */
  async changed(base: string, head: string): Promise<readonly { readonly path: string; readonly status: string }[]> {
    const listed = await this.git("diff", "--name-status", "--no-renames", `${base}...${head}`);
    return listed
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => ({ status: line.slice(0, 1), path: line.slice(2) }));
  }

  /** Returns the tree that a merge of the two commits creates; null if they conflict. */
  async joined(base: string, head: string): Promise<string | null> {
    return this.git("merge-tree", "--write-tree", base, head).then(
      (tree) => tree.split("\n")[0] ?? null,
      // If the merge fails, try a fast-forward: `git merge-tree --write-tree` requires git 2.38, but a fast-forward
      // also works with an older git.
      async () => ((await this.#isAhead(base, head)) ? this.git("rev-parse", `${head}^{tree}`) : null),
    );
  }

  async #isAhead(base: string, head: string): Promise<boolean> {
    return (await this.git("merge-base", base, head).catch(() => null)) === base;
  }

  /** Merges the commit `head` into a branch. Returns the merge commit; null if there is a conflict. */
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
