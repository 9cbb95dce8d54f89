import { createHash } from "node:crypto";
import { answerSources } from "./hosted-git-data.js";
import { fileJson, type HostedPull, repositoryJson, reviewCommentJson, reviewJson, toOwner } from "./hosted-pulls.js";
import type { HostedReply } from "./hosted-reply.js";
import type { HostedRepository } from "./hosted-repository.js";
import { appAccount, type HostedWork } from "./hosted-work.js";

/** The rights of an installation token. */
export interface HostedToken {
  readonly installationId: number;
  readonly expiresAtMs: number;
  /** `owner/name`; null for all repositories. */
  readonly repositories: readonly string[] | null;
  /** `contents`, `pull_requests`, … -> `read` or `write`. */
  readonly permissions: Readonly<Record<string, string>>;
}

/** A request with a token to `/repos/…` or `/repositories/…`. */
export interface RepositoryRequest {
  readonly method: string;
  /** The path, starting with `/repos/` or `/repositories/`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
  readonly etag: string | undefined;
  readonly token: HostedToken;
}

interface Found extends RepositoryRequest {
  readonly work: HostedWork;
  readonly repository: HostedRepository;
  /** Path below the repository, split at slashes. */
  readonly rest: readonly string[];
  readonly fields: Readonly<Record<string, unknown>>;
}

const NOT_FOUND: HostedReply = { status: 404, json: { message: "Not Found" } };

/** Whether the token allows this access to the repository. */
export function mayWork(token: HostedToken, repository: string, permission: string, level: "read" | "write"): boolean {
  const given = token.permissions[permission];
  const isReached = token.repositories === null || token.repositories.includes(repository);
  return isReached && (given === "write" || (level === "read" && given === "read"));
}

/**
 * Answers a request about a repository: its pull requests with their files, commits, reviews and comments, its
 * branches, and its own files and commits.
 */
export async function answerRepository(work: HostedWork, request: RepositoryRequest): Promise<HostedReply> {
  const parts = request.path.slice(1).split("/").map(decodeURIComponent);
  const isNumbered = parts[0] === "repositories";
  const [owner = "", name = ""] = parts.slice(1);
  const rest = parts.slice(isNumbered ? 2 : 3);
  const repository = isNumbered
    ? [...work.repositories.values()].find(({ id }) => `${id}` === owner)
    : work.repositories.get(`${owner}/${name}`);
  const { token, method, body } = request;
  if (repository === undefined || !mayWork(token, repository.name, "metadata", "read")) return NOT_FOUND;
  const permission = rest[0] === "pulls" || rest[0] === "issues" ? "pull_requests" : "contents";
  if (rest.length > 0 && !mayWork(token, repository.name, permission, method === "GET" ? "read" : "write")) {
    return { status: 403, json: { message: "Resource not accessible by integration" } };
  }
  const fields = body === "" ? {} : (JSON.parse(body) as Record<string, unknown>);
  const found = { ...request, work, repository, rest, fields };
  if (rest.length === 0) return { status: 200, json: repositoryJson(repository, work.origin) };
  if (rest[0] === "pulls") return rest.length === 1 ? answerPulls(found) : answerPull(found);
  if (rest[0] === "issues") return answerComments(found);
  if (rest[0] === "branches") return answerBranch(found);
  if (["git", "contents", "compare"].includes(rest[0] ?? "")) return answerSources(found);
  return NOT_FOUND;
}

async function answerPulls(found: Found): Promise<HostedReply> {
  const { method, work, repository, query } = found;
  if (method === "POST") return openPull(found);
  const head = query.get("head");
  const state = query.get("state") ?? "open";
  const listed = work.pulls
    .filter((pull) => pull.repository === repository && (state === "all" || pull.state === state))
    .filter((pull) => head === null || `${toOwner(repository)}:${pull.head}` === head)
    .filter((pull) => query.get("base") === null || pull.base === query.get("base"))
    .reverse();
  const page = paged(found, await Promise.all(listed.map((pull) => work.show(pull))));
  const reply = tagged(found, page.json);
  return { ...reply, headers: { ...page.headers, ...reply.headers } };
}

async function openPull({ work, repository, fields }: Found): Promise<HostedReply> {
  const [title, head, base] = [String(fields.title ?? ""), String(fields.head ?? ""), String(fields.base ?? "")];
  const branch = head.startsWith(`${toOwner(repository)}:`) ? head.slice(toOwner(repository).length + 1) : head;
  const invalid = (error: object) => ({ status: 422, json: { message: "Validation Failed", errors: [error] } });
  const of = { resource: "PullRequest" };
  if (title === "") return invalid({ ...of, field: "title", code: "missing_field" });
  const ends = { base: await repository.head(base), head: await repository.head(branch) };
  if (ends.head === null) return invalid({ ...of, field: "head", code: "invalid" });
  if (ends.base === null) return invalid({ ...of, field: "base", code: "invalid" });
  const isThere = ({ repository: of, ...pull }: HostedPull) =>
    of === repository && pull.state === "open" && pull.head === branch && pull.base === base;
  if (work.pulls.some(isThere)) {
    const message = `A pull request already exists for ${toOwner(repository)}:${branch}.`;
    return invalid({ ...of, code: "custom", message });
  }
  if ((await repository.commits(ends.base, ends.head)).length === 0) {
    return invalid({ ...of, code: "custom", message: `No commits between ${base} and ${branch}` });
  }
  const body = typeof fields.body === "string" ? fields.body : null;
  const wish = { title, head: branch, base, body, draft: fields.draft === true, by: appAccount };
  return { status: 201, json: await work.show(await work.open(repository, wish)) };
}

async function answerPull(found: Found): Promise<HostedReply> {
  const { work, repository, rest, method } = found;
  const pull = work.pulls.find((one) => one.repository === repository && `${one.number}` === rest[1]);
  if (pull === undefined) return NOT_FOUND;
  switch (`${method} ${rest[2] ?? ""}`) {
    case "GET ":
      return tagged(found, await work.show(pull));
    case "PATCH ":
      return editPull(found, pull);
    case "PUT merge":
      return mergePull(found, pull);
    case "GET files": {
      const { base, head } = await work.show(pull);
      const changed = await repository.changed(base.sha, head.sha);
      return paged(found, changed.slice(0, 3_000).map(fileJson));
    }
    case "GET commits": {
      const { base, head } = await work.show(pull);
      return paged(found, (await repository.commits(base.sha, head.sha)).map((sha) => ({ sha })).reverse());
    }
    case "GET reviews":
      return paged(
        found,
        pull.reviews.map((review) => reviewJson(review, pull, work.origin)),
      );
    case "POST reviews":
      return reviewPull(found, pull);
    case "GET comments":
      return paged(
        found,
        pull.reviewComments.map((comment) => reviewCommentJson(comment, pull, work.origin)),
      );
    default:
      return NOT_FOUND;
  }
}

async function editPull({ work, fields }: Found, pull: HostedPull): Promise<HostedReply> {
  const { title = pull.title, body = pull.body, base = pull.base, state = pull.state } = fields as Partial<HostedPull>;
  if (state !== pull.state) await (state === "closed" ? work.close(pull, appAccount) : work.reopen(pull, appAccount));
  if (title !== pull.title || body !== pull.body || base !== pull.base) {
    await work.edit(pull, { title, body, base }, appAccount);
  }
  return { status: 200, json: await work.show(pull) };
}

async function mergePull({ work }: Found, pull: HostedPull): Promise<HostedReply> {
  const sha = pull.state === "open" ? await work.merge(pull, appAccount) : null;
  if (sha === null) return { status: 405, json: { message: "Pull Request is not mergeable" } };
  return { status: 200, json: { sha, merged: true, message: "Pull Request successfully merged" } };
}

async function reviewPull({ work, fields }: Found, pull: HostedPull): Promise<HostedReply> {
  const states = { APPROVE: "APPROVED", REQUEST_CHANGES: "CHANGES_REQUESTED", COMMENT: "COMMENTED" } as const;
  const event = String(fields.event) as keyof typeof states;
  if (!(event in states)) return { status: 422, json: { message: "Unprocessable Entity" } };
  const review = await work.review(pull, { state: states[event], body: String(fields.body ?? ""), by: appAccount });
  return { status: 200, json: reviewJson(review, pull, work.origin) };
}

function answerComments(found: Found): HostedReply {
  const { work, repository, rest, method, fields } = found;
  const { name } = repository;
  if (rest[1] === "comments") {
    const comment = work.comments.find((one) => one.repository === name && `${one.id}` === rest[2]);
    if (comment === undefined) return NOT_FOUND;
    if (method === "DELETE") {
      work.comments.splice(work.comments.indexOf(comment), 1);
      return { status: 204, json: "" };
    }
    if (method === "PATCH") comment.body = String(fields.body);
    return { status: 200, json: work.showComment(comment) };
  }
  if (rest[2] !== "comments") return NOT_FOUND;
  const number = Number(rest[1]);
  const body = String(fields.body ?? "");
  if (method === "GET") {
    const on = work.comments.filter((one) => one.repository === name && one.number === number);
    return paged(
      found,
      on.map((one) => work.showComment(one)),
    );
  }
  if (body.length > 65_536) return { status: 422, json: { message: "Body is too long (maximum is 65536 characters)" } };
  return { status: 201, json: work.showComment(work.comment(name, number, body, appAccount)) };
}

async function answerBranch({ repository, rest }: Found): Promise<HostedReply> {
  const name = rest.slice(1).join("/");
  const sha = await repository.head(name);
  return sha === null ? NOT_FOUND : { status: 200, json: { name, commit: { sha }, protected: false } };
}

function paged({ query, path, work }: Found, items: readonly unknown[]): HostedReply {
  const size = Math.min(Number(query.get("per_page") ?? 30), 100);
  const page = Number(query.get("page") ?? 1);
  const more = items.length > page * size;
  const link = `<${work.origin}/api/v3${path}?per_page=${size}&page=${page + 1}>; rel="next"`;
  return { status: 200, json: items.slice((page - 1) * size, page * size), ...(more && { headers: { link } }) };
}

function tagged({ etag }: Found, json: unknown): HostedReply {
  const tag = `W/"${createHash("sha256").update(JSON.stringify(json)).digest("hex")}"`;
  return etag === tag
    ? { status: 304, json: "", headers: { etag: tag } }
    : { status: 200, json, headers: { etag: tag } };
}
