import { z } from "zod";
import { type AskCodeHost, type CodeHostAnswer, type CodeHostRequest, isRefusedWith, readAs } from "./code-host-requests.js";
import {
  type HostedPullRequest,
  type HostedReview,
  hostedPullRequestSchema,
  hostedReviewSchema,
} from "./hosted-pull-request.js";

/** A repository, as an installation reaches it. */
export interface RepositoryThere {
  readonly installationId: number;
  /** `owner/name` */
  readonly repository: string;
}

/** A pull request to open. */
export interface WantedPullRequest {
  readonly title: string;
  readonly body: string;
  readonly branch: string;
  /** Null for the default branch. */
  readonly base: string | null;
  readonly draft: boolean;
}

/** What a read by the tag of an earlier answer gives. */
export type ReadPullRequest =
  | { readonly read: "changed"; readonly pullRequest: HostedPullRequest; readonly etag: string | null }
  | { readonly read: "same" }
  | { readonly read: "gone" };

/** A comment on a pull request. */
export interface HostedComment {
  readonly id: number;
  readonly body: string;
}

/** What the code host does with pull requests. Its methods reject with `CodeHostRefused`. */
export interface CodeHostPullRequests {
  /** Those from a branch of the repository itself, whatever became of them, newest first. */
  listFrom(there: RepositoryThere, branch: string): Promise<readonly HostedPullRequest[]>;
  /** Null where there is one from the branch already. */
  open(there: RepositoryThere, wanted: WantedPullRequest): Promise<HostedPullRequest | null>;
  read(there: RepositoryThere, number: number, etag: string | null): Promise<ReadPullRequest>;
  /** The submitted reviews, oldest first; 1,000 at most. */
  reviews(there: RepositoryThere, number: number): Promise<readonly HostedReview[]>;
  /** The paths that it changes, those of renamed files twice; {@link MAX_FILES} at most. */
  files(there: RepositoryThere, number: number): Promise<readonly string[]>;
  /** The comment that holds the mark; null for none. */
  findComment(there: RepositoryThere, number: number, mark: string): Promise<HostedComment | null>;
  addComment(there: RepositoryThere, number: number, body: string): Promise<HostedComment>;
  /** Null where it is gone. */
  changeComment(there: RepositoryThere, id: number, body: string): Promise<HostedComment | null>;
  /** Deliveries that failed, newest first, and where the next page begins. */
  failedDeliveries(cursor: string | null): Promise<{ readonly ids: readonly FailedDelivery[]; readonly next: string | null }>;
  redeliver(id: string): Promise<void>;
}

/** A delivery that this service did not take. */
export interface FailedDelivery {
  readonly id: string;
  /** The same for each attempt of it. */
  readonly guid: string;
  readonly atMs: number;
  readonly hasFailed: boolean;
}

/** Most files that are read of a pull request, as many as GitHub lists. */
export const MAX_FILES = 3_000;
const ON_PAGE = 100;
/** Most bytes of a page of files, which holds their changes too. */
const MAX_FILES_BYTES = 32 * 1024 * 1024;
const MAX_REVIEW_PAGES = 10;
const MAX_COMMENT_PAGES = 10;

interface Parts {
  readonly ask: AskCodeHost;
  readonly apiUrl: string;
  readonly name: string;
  readonly tokens: { of(installationId: number): Promise<string>; forget(installationId: number): void };
  readonly appToken: () => string;
  /** Resolves when something may be written for the installation. */
  readonly paced: (installationId: number) => Promise<void>;
}

type Call = Pick<CodeHostRequest, "what" | "method" | "etag" | "maxBytes"> & { readonly path: string; readonly json?: object };

/** A client for pull requests. */
export function createPullRequests(parts: Parts): CodeHostPullRequests {
  const { name } = parts;
  const call = (there: RepositoryThere, wanted: Call) => callAs(parts, there, wanted);
  const pages = async <Item>(there: RepositoryThere, wanted: Call, schema: z.ZodType<Item>, most: number) => {
    const items: Item[] = [];
    for (let page = 1; page <= most; page += 1) {
      const answer = await call(there, { ...wanted, path: `${wanted.path}?per_page=${ON_PAGE}&page=${page}` });
      const read = readAs(name, z.array(schema).max(ON_PAGE), expectStatus(name, answer, 200));
      items.push(...read);
      if (read.length < ON_PAGE) break;
    }
    return items;
  };
  return {
    async listFrom(there, branch) {
      const head = encodeURIComponent(`${there.repository.split("/")[0]}:${branch}`);
      const path = `/pulls?head=${head}&state=all&sort=created&direction=desc&per_page=${ON_PAGE}`;
      const answer = await call(there, { what: "pull requests of a branch", path });
      const found = readAs(name, z.array(hostedPullRequestSchema), expectStatus(name, answer, 200));
      return found.filter((one) => one.branch === branch);
    },
    async open(there, { base, branch, ...wanted }) {
      const into = base ?? (await defaultBranch(parts, there));
      await parts.paced(there.installationId);
      const json = { ...wanted, head: branch, base: into };
      const answer = await call(there, { what: "a new pull request", method: "POST", path: "/pulls", json });
      if (answer.status === 422 && saysThatItExists(answer.json)) return null;
      return readAs(name, hostedPullRequestSchema, expectStatus(name, answer, 201));
    },
    async read(there, number, etag) {
      const answer = await call(there, { what: "a pull request", path: `/pulls/${number}`, etag });
      if (answer.status === 304) return { read: "same" };
      if (answer.status === 404 || answer.status === 410) return { read: "gone" };
      const pullRequest = readAs(name, hostedPullRequestSchema, expectStatus(name, answer, 200));
      return { read: "changed", pullRequest, etag: answer.etag };
    },
    async reviews(there, number) {
      const wanted = { what: "the reviews of a pull request", path: `/pulls/${number}/reviews` };
      const found = await pages(there, wanted, hostedReviewSchema, MAX_REVIEW_PAGES);
      return found.filter((review) => review !== null);
    },
    async files(there, number) {
      const path = `/pulls/${number}/files`;
      const wanted = { what: "the files of a pull request", path, maxBytes: MAX_FILES_BYTES };
      const found = await pages(there, wanted, fileSchema, MAX_FILES / ON_PAGE);
      return [...new Set(found.flatMap(({ filename, previous_filename }) => [filename, previous_filename ?? filename]))];
    },
    async findComment(there, number, mark) {
      const wanted = { what: "the comments of a pull request", path: `/issues/${number}/comments` };
      const found = await pages(there, wanted, commentSchema, MAX_COMMENT_PAGES);
      return found.find(({ body }) => body.includes(mark)) ?? null;
    },
    async addComment(there, number, body) {
      await parts.paced(there.installationId);
      const path = `/issues/${number}/comments`;
      const answer = await call(there, { what: "a new comment", method: "POST", path, json: { body } });
      return readAs(name, commentSchema, expectStatus(name, answer, 201));
    },
    async changeComment(there, id, body) {
      await parts.paced(there.installationId);
      const path = `/issues/comments/${id}`;
      const answer = await call(there, { what: "a comment", method: "PATCH", path, json: { body } });
      if (answer.status === 404 || answer.status === 410) return null;
      return readAs(name, commentSchema, expectStatus(name, answer, 200));
    },
    failedDeliveries: (cursor) => listDeliveries(parts, cursor),
    async redeliver(id) {
      const answer = await askAsApp(parts, "a delivery again", { method: "POST", path: `/${id}/attempts` });
      if (answer.status !== 202) throw isRefusedWith(name, answer.status);
    },
  };
}

/** Asks about a repository with the token of its installation; a token that is not taken is forgotten. */
async function callAs(
  { ask, apiUrl, tokens }: Parts,
  { installationId, repository }: RepositoryThere,
  { what, method, path, json, ...how }: Call,
): Promise<CodeHostAnswer> {
  const [owner = "", repo = ""] = repository.split("/");
  const answer = await ask({
    ...{ what, url: `${apiUrl}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}${path}` },
    authorization: `Bearer ${await tokens.of(installationId)}`,
    ...(method !== undefined && { method }),
    ...how,
    ...(json !== undefined && { body: { type: "application/json" as const, text: JSON.stringify(json) } }),
  });
  if (answer.status === 401) tokens.forget(installationId);
  return answer;
}

async function defaultBranch(parts: Parts, there: RepositoryThere): Promise<string> {
  const answer = await callAs(parts, there, { what: "a repository", path: "" });
  return readAs(parts.name, repositorySchema, expectStatus(parts.name, answer, 200)).default_branch;
}

async function listDeliveries(parts: Parts, cursor: string | null): ReturnType<CodeHostPullRequests["failedDeliveries"]> {
  const more = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
  const answer = await askAsApp(parts, "deliveries", { path: `?per_page=${ON_PAGE}${more}` });
  const found = readAs(parts.name, deliveriesSchema, expectStatus(parts.name, answer, 200));
  const ids = found.map(({ id, guid, delivered_at, status_code }) => ({
    ...{ id: String(id), guid, atMs: Date.parse(delivered_at) },
    hasFailed: status_code < 200 || status_code >= 300,
  }));
  return { ids, next: answer.next };
}

function askAsApp(
  { ask, apiUrl, appToken }: Parts,
  what: string,
  { method, path }: Pick<Call, "method" | "path">,
): Promise<CodeHostAnswer> {
  const authorization = `Bearer ${appToken()}`;
  return ask({
    ...{ what, url: `${apiUrl}/app/hook/deliveries${path}`, authorization },
    ...(method !== undefined && { method }),
  });
}

function expectStatus(name: string, { status, json }: CodeHostAnswer, expected: number): unknown {
  if (status !== expected) throw isRefusedWith(name, status, whyRefused(json));
  return json;
}

/** What the code host says of a refusal, for people; empty for nothing. */
function whyRefused(json: unknown): string {
  const read = refusalSchema.safeParse(json);
  if (!read.success) return "";
  const details = read.data.errors.flatMap(({ message }) => (message === undefined ? [] : [message]));
  return [read.data.message, ...details].join(": ").replace(/\s+/g, " ").slice(0, 500);
}

function saysThatItExists(json: unknown): boolean {
  return /already exists/i.test(whyRefused(json));
}

const refusalSchema = z.object({
  message: z.string().default(""),
  errors: z.array(z.object({ message: z.string().optional() })).catch([]),
});
const repositorySchema = z.object({ default_branch: z.string().min(1).max(500) });
const path = z.string().min(1).max(4_096);
const fileSchema = z.object({ filename: path, previous_filename: path.nullish() });
const commentSchema = z.object({
  id: z.int().positive(),
  body: z
    .string()
    .nullish()
    .transform((body) => body ?? ""),
});
const deliveriesSchema = z.array(
  z.object({
    id: z.union([z.int(), z.string().regex(/^\d+$/)]),
    guid: z.string().max(100),
    delivered_at: z.iso.datetime({ offset: true }),
    status_code: z.int(),
  }),
);
