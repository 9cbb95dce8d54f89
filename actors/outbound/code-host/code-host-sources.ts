import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import {
  type Call,
  callAs,
  expectStatus,
  type RepositoryCallParts,
  type RepositoryThere,
  readRepository,
  whyRefused,
} from "./code-host-repository.js";
import { readAs } from "./code-host-requests.js";

/** A commit of a repository. */
export interface HostedCommit {
  readonly commit: string;
  /** The hash of the commit's tree. */
  readonly tree: string;
  readonly parents: readonly string[];
  /**
   * The committer's date, in milliseconds since 1970; absent if unknown. For a commit that the code host created, this
   * is the time by the code host's clock.
   */
  readonly madeAtMs?: number;
}

/** The commit at the head of the default branch. */
export interface HostedHead extends HostedCommit {
  readonly branch: string;
}

/** An entry of a git tree. */
export interface HostedEntry {
  readonly path: string;
  /**
   * The mode in git's notation: `100644`, `100755` for an executable, `120000` for a symlink, `160000` for a submodule,
   * `040000` for a folder.
   */
  readonly mode: string;
  readonly sha: string;
}

export interface HostedTree {
  readonly entries: readonly HostedEntry[];
  /** Whether the code host truncated the list. */
  readonly isCut: boolean;
}

/** A commit to create. Each file replaces the base commit's file at its path. */
export interface WantedCommit {
  /**
   * The base commit: the first parent of the new commit. Files of the base commit that are not replaced stay in the new
   * tree.
   */
  readonly on: HostedCommit;
  /** Additional parents. */
  readonly parents: readonly string[];
  readonly message: string;
  readonly files: readonly { readonly path: string; readonly mode: string; readonly content: string }[];
}

/** A branch and a commit. */
export interface BranchAt {
  readonly branch: string;
  readonly commit: string;
}

/** Code host operations on commits and files. The methods reject with `CodeHostRefused`. */
export interface CodeHostSources {
  /** Reads the head of the default branch; null if the repository does not exist or has no commit. */
  readHead(there: RepositoryThere): Promise<HostedHead | null>;
  readCommit(there: RepositoryThere, commit: string): Promise<HostedCommit>;
  /** Lists a tree; with `isDeep`, also the entries of its subfolders at every depth. */
  readTree(there: RepositoryThere, tree: string, isDeep: boolean): Promise<HostedTree>;
  /** Reads a file's bytes at a commit; null if the file does not exist or is larger than {@link MAX_FILE_BYTES}. */
  readFile(there: RepositoryThere, file: { readonly path: string; readonly commit: string }): Promise<Buffer | null>;
  /** Reads a blob's bytes by its hash; null if the blob does not exist or is too large for an answer. */
  readBlob(there: RepositoryThere, sha: string): Promise<Buffer | null>;
  /** Reads the commit at a branch's head; null if the branch does not exist. */
  readBranch(there: RepositoryThere, branch: string): Promise<string | null>;
  /** Whether a branch contains a commit, at its head or in its history. */
  holds(there: RepositoryThere, at: BranchAt): Promise<boolean>;
  /** Creates a commit that is not on any branch yet. The code host signs it for the app. */
  writeCommit(there: RepositoryThere, wanted: WantedCommit): Promise<HostedCommit>;
  /** Creates a branch; false if it already exists. */
  createBranch(there: RepositoryThere, at: BranchAt): Promise<boolean>;
  /** Moves a branch forward to a commit; false if the move is not a fast-forward. */
  advanceBranch(there: RepositoryThere, at: BranchAt): Promise<boolean>;
}

/** Maximum size of a file in bytes. GitHub omits the content of larger files from its answers. */
export const MAX_FILE_BYTES = 1024 * 1024;
/** Maximum size of a tree's list in bytes. GitHub's own limit is 7 MB. */
const MAX_TREE_BYTES = 8 * 1024 * 1024;
/** Number of tree entries to validate before yielding to other work. A tree can have 100,000. */
const ENTRIES_AT_ONCE = 2_000;

/** Creates a client for commits and files that uses GitHub's Git database API and contents API. */
export function createSources(parts: RepositoryCallParts): CodeHostSources {
  return { ...readMethods(parts), ...writeMethods(parts) };
}

function readMethods(parts: RepositoryCallParts) {
  const { name } = parts;
  const call = (there: RepositoryThere, wanted: Call) => callAs(parts, there, wanted);
  const readBranch: CodeHostSources["readBranch"] = async (there, branch) => {
    const path = `/git/ref/heads/${toPath(branch)}`;
    const answer = await call(there, { what: "a branch", path });
    // 409: the repository has no commit.
    if (answer.status === 404 || answer.status === 409) return null;
    const { ref, object } = readAs(name, refSchema, expectStatus(name, answer, 200));
    return ref === `refs/heads/${branch}` ? object.sha : null;
  };
  const readCommit: CodeHostSources["readCommit"] = async (there, commit) => {
    const answer = await call(there, { what: "a commit", path: `/git/commits/${commit}` });
    return readAs(name, commitSchema, expectStatus(name, answer, 200));
  };
  return {
    readBranch,
    readCommit,
    async readHead(there) {
      const repository = await readRepository(parts, there);
      if (repository === null) return null;
      const { defaultBranch: branch } = repository;
      const commit = await readBranch(there, branch);
      return commit === null ? null : { ...(await readCommit(there, commit)), branch };
    },
    async readTree(there, tree, isDeep) {
      const path = `/git/trees/${tree}${isDeep ? "?recursive=1" : ""}`;
      const answer = await call(there, { what: "a tree", path, maxBytes: MAX_TREE_BYTES });
      const json = expectStatus(name, answer, 200);
      // A list above the size limit is cut and does not parse as JSON. The list of a single folder is never that long.
      if (json === undefined && isDeep) return { entries: [], isCut: true };
      const { tree: listed, truncated } = readAs(name, treeSchema, json);
      const entries: HostedEntry[] = [];
      for (let at = 0; at < listed.length; at += ENTRIES_AT_ONCE) {
        if (at > 0) await setImmediate();
        entries.push(...readAs(name, entriesSchema, listed.slice(at, at + ENTRIES_AT_ONCE)));
      }
      return { entries, isCut: truncated };
    },
    async readFile(there, { path, commit }) {
      const wanted = { what: "a file", path: `/contents/${toPath(path)}?ref=${commit}` };
      const answer = await call(there, wanted);
      if (answer.status === 404) return null;
      // GitHub refuses files above 100 MB. For a large file below that size, GitHub answers without the content.
      if (answer.status === 403 && /too large/i.test(whyRefused(answer.json))) return null;
      const read = fileSchema.safeParse(expectStatus(name, answer, 200));
      return read.success ? Buffer.from(read.data.content, "base64") : null;
    },
    async readBlob(there, blob) {
      const answer = await call(there, { what: "a blob", path: `/git/blobs/${blob}` });
      if (answer.status === 404) return null;
      const read = blobSchema.safeParse(expectStatus(name, answer, 200));
      return read.success ? Buffer.from(read.data.content, "base64") : null;
    },
    async holds(there, { branch, commit }) {
      const head = await readBranch(there, branch);
      if (head === null || head === commit) return head === commit;
      const answer = await call(there, { what: "two commits", path: `/compare/${commit}...${head}?per_page=1` });
      if (answer.status === 404) return false;
      return readAs(name, comparisonSchema, expectStatus(name, answer, 200)).status === "ahead";
    },
  } satisfies Partial<CodeHostSources>;
}

function writeMethods(parts: RepositoryCallParts) {
  const { name } = parts;
  const write = async (there: RepositoryThere, wanted: Call) => {
    await parts.paced(there.installationId);
    return callAs(parts, there, { method: "POST", ...wanted });
  };
  const make = async (there: RepositoryThere, wanted: Call) => {
    return readAs(name, madeSchema, expectStatus(name, await write(there, wanted), 201)).sha;
  };
  return {
    async writeCommit(there, { on, parents: further, message, files }) {
      const tree: object[] = [];
      for (const { path, mode, content } of files) {
        const json = { content: Buffer.from(content).toString("base64"), encoding: "base64" };
        tree.push({ path, mode, type: "blob", sha: await make(there, { what: "a blob", path: "/git/blobs", json }) });
      }
      const made = { what: "a new tree", path: "/git/trees", json: { base_tree: on.tree, tree } };
      const whole = await make(there, made);
      const parents = [on.commit, ...further];
      const json = { message, tree: whole, parents };
      const answer = await write(there, { what: "a new commit", path: "/git/commits", json });
      const { sha: commit, committer: by } = readAs(name, newCommitSchema, expectStatus(name, answer, 201));
      return { commit, tree: whole, parents, ...(by !== undefined && { madeAtMs: by.date }) };
    },
    async createBranch(there, { branch, commit }) {
      const json = { ref: `refs/heads/${branch}`, sha: commit };
      const answer = await write(there, { what: "a new branch", path: "/git/refs", json });
      if (answer.status === 422 && /already[ _]exists/i.test(whyRefused(answer.json))) return false;
      expectStatus(name, answer, 201);
      return true;
    },
    async advanceBranch(there, { branch, commit }) {
      const path = `/git/refs/heads/${toPath(branch)}`;
      const json = { sha: commit, force: false };
      const answer = await write(there, { what: "a branch", method: "PATCH", path, json });
      if (answer.status === 422 && /fast.forward/i.test(whyRefused(answer.json))) return false;
      expectStatus(name, answer, 200);
      return true;
    },
  } satisfies Partial<CodeHostSources>;
}

/** Encodes a path for a URL; slashes stay. */
function toPath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

const sha = z.string().regex(/^[0-9a-f]{40,64}$/);
const madeSchema = z.object({ sha });
const refSchema = z.object({ ref: z.string(), object: z.object({ sha }) });
const timeMs = z.iso.datetime({ offset: true }).transform((given) => Date.parse(given));
const committer = z.object({ date: timeMs }).optional().catch(undefined);
const commitSchema = z
  .object({ sha, tree: z.object({ sha }), parents: z.array(z.object({ sha })), committer })
  .transform(
    (given): HostedCommit => ({
      commit: given.sha,
      tree: given.tree.sha,
      parents: given.parents.map((parent) => parent.sha),
      ...(given.committer !== undefined && { madeAtMs: given.committer.date }),
    }),
  );
const newCommitSchema = z.object({ sha, committer });
const treeSchema = z.object({
  tree: z.custom<readonly unknown[]>(Array.isArray),
  truncated: z.boolean().default(false),
});
const entriesSchema = z.array(z.object({ path: z.string().min(1).max(4_096), mode: z.string().max(10), sha }));
/** A file whose content is in the answer. */
const fileSchema = z.object({
  type: z.literal("file"),
  encoding: z.literal("base64"),
  size: z.int().max(MAX_FILE_BYTES),
  content: z.string(),
});
const blobSchema = z.object({ encoding: z.literal("base64"), content: z.string() });
const comparisonSchema = z.object({ status: z.string() });
