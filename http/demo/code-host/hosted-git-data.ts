import { posix } from "node:path";
import type { HostedReply } from "./hosted-reply.js";
import type { HostedRepository } from "./hosted-repository.js";
import { appAccount, type HostedWork } from "./hosted-work.js";

/** An authorized request about the files and commits of a repository. */
interface SourceRequest {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly work: HostedWork;
  readonly repository: HostedRepository;
  /** Path below the repository, split at slashes. */
  readonly rest: readonly string[];
  readonly fields: Readonly<Record<string, unknown>>;
}

const NOT_FOUND: HostedReply = { status: 404, json: { message: "Not Found" } };
/** GitHub's limits: entries in one tree listing, and bytes of a file in one answer. */
const MAX_ENTRIES = 100_000;
const MAX_CONTENT_BYTES = 1024 * 1024;

/** Answers `/git/…`, `/contents/…` and `/compare/…` with Git data of the bare repository. */
export async function answerSources(found: SourceRequest): Promise<HostedReply> {
  const { repository, rest, method } = found;
  if (rest[0] === "contents") return answerContents(found);
  if (rest[0] === "compare") return compare(repository, rest.slice(1).join("/"));
  const [, what = "", ...name] = rest;
  if (method !== "GET" && repository.isArchived) {
    return { status: 403, json: { message: "Repository was archived so is read-only." } };
  }
  switch (`${method} ${what}`) {
    case "GET ref":
      return answerRef(repository, name.join("/"));
    case "GET commits":
      return answerCommit(repository, name[0] ?? "");
    case "GET trees":
      return answerTree(found, name[0] ?? "");
    case "GET blobs":
      return answerBlob(found, name[0] ?? "");
    case "POST blobs":
      return writeBlob(found);
    case "POST trees":
      return writeTree(found);
    case "POST commits":
      return writeCommit(found);
    case "POST refs":
      return createRef(found);
    case "PATCH refs":
      return moveRef(found, name.join("/"));
    default:
      return NOT_FOUND;
  }
}

async function answerRef(repository: HostedRepository, name: string): Promise<HostedReply> {
  const sha = await repository.head(`refs/${name}`);
  return sha === null ? NOT_FOUND : refReply(200, name, sha);
}

function refReply(status: number, name: string, sha: string): HostedReply {
  return { status, json: { ref: `refs/${name}`, object: { type: "commit", sha } } };
}

async function answerCommit(repository: HostedRepository, sha: string, status = 200): Promise<HostedReply> {
  const commit = await repository.findCommit(sha);
  if (commit === null) return NOT_FOUND;
  const { id, tree, parents, message, date } = commit;
  return {
    status,
    json: {
      sha: id,
      tree: { sha: tree },
      parents: parents.map((parent) => ({ sha: parent })),
      message,
      committer: { date },
    },
  };
}

async function answerTree({ repository, query }: SourceRequest, sha: string): Promise<HostedReply> {
  const args = query.get("recursive") === null ? [] : ["-r", "-t"];
  const listed = await repository.git("ls-tree", ...args, "-z", sha).catch(() => null);
  if (listed === null) return NOT_FOUND;
  const tree = listed
    .split("\0")
    .filter((line) => line !== "")
    .map((line) => {
      const [about = "", path = ""] = line.split("\t");
      const [mode = "", type = "", of = ""] = about.split(" ");
      return { path, mode, type, sha: of };
    });
  return { status: 200, json: { sha, tree: tree.slice(0, MAX_ENTRIES), truncated: repository.isTreeCut } };
}

async function answerContents({ repository, rest, query }: SourceRequest): Promise<HostedReply> {
  const path = rest.slice(1).join("/");
  const commit = query.get("ref") ?? repository.defaultBranch;
  const entry = await repository.entry(commit, path);
  if (entry === null) return NOT_FOUND;
  if (entry.type === "tree") return { status: 200, json: [] };
  // A symlink to a file of the repository is answered with the content of that file.
  const target = entry.mode === "120000" ? (await repository.read(commit, path)).toString() : null;
  const linked = target === null ? path : posix.join(posix.dirname(path), target);
  const isFile = target === null || (await repository.entry(commit, linked))?.type === "blob";
  if (!isFile) return { status: 200, json: { type: "symlink", path, target } };
  const bytes = await repository.read(commit, linked);
  const isLong = bytes.length > MAX_CONTENT_BYTES;
  const content = isLong ? "" : bytes.toString("base64").replace(/.{60}/g, "$&\n");
  const encoding = isLong ? "none" : "base64";
  return { status: 200, json: { type: "file", path, sha: entry.sha, size: bytes.length, encoding, content } };
}

async function answerBlob({ repository }: SourceRequest, sha: string): Promise<HostedReply> {
  const bytes = await repository.blob(sha);
  if (bytes === null) return NOT_FOUND;
  const content = bytes.toString("base64").replace(/.{60}/g, "$&\n");
  return { status: 200, json: { sha, size: bytes.length, encoding: "base64", content } };
}

async function compare(repository: HostedRepository, ends: string): Promise<HostedReply> {
  const [base = "", head = ""] = ends.split("...");
  const counted = await repository.git("rev-list", "--left-right", "--count", `${base}...${head}`).catch(() => null);
  if (counted === null) return NOT_FOUND;
  const [behind = 0, ahead = 0] = counted.split("\t").map(Number);
  const apart = behind > 0 ? "diverged" : "ahead";
  const status = ahead === 0 ? (behind === 0 ? "identical" : "behind") : apart;
  return { status: 200, json: { status, ahead_by: ahead, behind_by: behind } };
}

async function writeBlob({ repository, fields }: SourceRequest): Promise<HostedReply> {
  const encoding = fields.encoding === "base64" ? "base64" : "utf8";
  const sha = await repository.write(Buffer.from(String(fields.content), encoding));
  return { status: 201, json: { sha } };
}

interface WantedEntry {
  readonly path: string;
  readonly mode: string;
  readonly sha: string;
}

async function writeTree({ repository, fields }: SourceRequest): Promise<HostedReply> {
  const sha = await repository.findTree(String(fields.base_tree), fields.tree as readonly WantedEntry[]);
  return sha === null
    ? { status: 422, json: { message: "Invalid tree info" } }
    : { status: 201, json: { sha, truncated: false } };
}

async function writeCommit({ repository, fields, work }: SourceRequest): Promise<HostedReply> {
  const parents = fields.parents as readonly string[];
  const note = { message: String(fields.message), at: work.now };
  const sha = await repository.commitTree(String(fields.tree), parents, note);
  return sha === null
    ? { status: 422, json: { message: "Tree SHA is not a tree object" } }
    : answerCommit(repository, sha, 201);
}

async function createRef({ work, repository, fields }: SourceRequest): Promise<HostedReply> {
  const [ref, sha] = [String(fields.ref), String(fields.sha)];
  if ((await repository.head(ref)) !== null) return { status: 422, json: { message: "Reference already exists" } };
  return setRef({ work, repository }, ref, sha, 201);
}

async function moveRef({ work, repository, fields }: SourceRequest, name: string): Promise<HostedReply> {
  const [ref, sha] = [`refs/${name}`, String(fields.sha)];
  const before = await repository.head(ref);
  if (before === null) return { status: 422, json: { message: "Reference does not exist" } };
  const isAbove = await repository.git("merge-base", "--is-ancestor", before, sha).then(
    () => true,
    () => false,
  );
  if (!isAbove && fields.force !== true) return { status: 422, json: { message: "Update is not a fast forward" } };
  return setRef({ work, repository }, ref, sha, 200);
}

async function setRef(
  { work, repository }: Pick<SourceRequest, "work" | "repository">,
  ref: string,
  sha: string,
  status: number,
): Promise<HostedReply> {
  if (repository.protectedRefs?.test(ref) === true) {
    const message = "Repository rule violations found\n\nCannot create ref due to creations being restricted.\n\n";
    return { status: 422, json: { message } };
  }
  const before = await repository.heads();
  const made = await repository.git("update-ref", ref, sha).catch(() => null);
  if (made === null) return { status: 422, json: { message: "Object does not exist" } };
  await work.pushed(repository, before, appAccount);
  return refReply(status, ref.replace(/^refs\//, ""), sha);
}
