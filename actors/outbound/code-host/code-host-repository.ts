import { z } from "zod";
import {
  type AskCodeHost,
  type CodeHostAnswer,
  type CodeHostRequest,
  isRefusedWith,
  readAs,
} from "./code-host-requests.js";

/** A repository, and the installation that reaches it. */
export interface RepositoryThere {
  readonly installationId: number;
  /** The repository's name, `owner/name`. */
  readonly repository: string;
}

/** The dependencies of requests about repositories. */
export interface RepositoryCallParts {
  readonly ask: AskCodeHost;
  readonly apiUrl: string;
  readonly name: string;
  readonly tokens: { read(installationId: number): Promise<string>; forget(installationId: number): void };
  readonly appToken: () => Promise<string>;
  /** Resolves when the service may write for the installation. */
  readonly paced: (installationId: number) => Promise<void>;
}

/** A request about a repository. `path` is relative to the repository's own path in the API. */
export type Call = Pick<CodeHostRequest, "what" | "method" | "etag" | "maxBytes"> & {
  readonly path: string;
  readonly json?: object;
};

/** Number of entries per page. */
export const ON_PAGE = 100;
/** Maximum size of a page in bytes. An entry can have a text of 64 KiB and a diff. */
export const MAX_PAGE_BYTES = 32 * 1024 * 1024;

/**
 * Sends a request about a repository with its installation's token. Drops the token if the code host rejects it with
 * 401.
 */
export async function callAs(
  { ask, apiUrl, tokens }: RepositoryCallParts,
  { installationId, repository }: RepositoryThere,
  { what, method, path, json, ...how }: Call,
): Promise<CodeHostAnswer> {
  const [owner = "", repo = ""] = repository.split("/");
  const answer = await ask({
    what,
    url: `${apiUrl}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}${path}`,
    authorization: `Bearer ${await tokens.read(installationId)}`,
    ...(method !== undefined && { method }),
    ...how,
    ...(json !== undefined && { body: { type: "application/json" as const, text: JSON.stringify(json) } }),
  });
  if (answer.status === 401) tokens.forget(installationId);
  return answer;
}

/** Reads a list page by page, at most `most` pages. */
export async function readPages<Item>(
  parts: RepositoryCallParts,
  there: RepositoryThere,
  wanted: Call,
  { schema, most }: { readonly schema: z.ZodType<Item>; readonly most: number },
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let page = 1; page <= most; page += 1) {
    const path = `${wanted.path}?per_page=${ON_PAGE}&page=${page}`;
    const answer = await callAs(parts, there, { maxBytes: MAX_PAGE_BYTES, ...wanted, path });
    const read = readAs(parts.name, z.array(schema).max(ON_PAGE), expectStatus(parts.name, answer, 200));
    items.push(...read);
    if (read.length < ON_PAGE) break;
  }
  return items;
}

/** Returns the JSON of an answer. Throws with the code host's own error text if the status is not `expected`. */
export function expectStatus(name: string, { status, json }: CodeHostAnswer, expected: number): unknown {
  if (status !== expected) {
    const isRedirect = status >= 300 && status < 400;
    const why = isRedirect ? "a redirect that leads out of its API" : whyRefused(json);
    throw isRefusedWith(name, status, why, listFieldsRefused(json));
  }
  return json;
}

/**
 * Returns the code host's reasons for a refusal as text for people, with the resource, field and code of each reason.
 * Empty if the code host gives no reasons. At most 500 characters.
 */
export function whyRefused(json: unknown): string {
  const { message, errors } = readRefusal(json);
  return [message, ...errors.map(({ text }) => text)]
    .filter((part) => part !== "")
    .join(": ")
    .replace(/\s+/g, " ")
    .slice(0, 500)
    .toWellFormed();
}

/** Returns the request fields that a refusal names. */
function listFieldsRefused(json: unknown): readonly string[] {
  return readRefusal(json).errors.flatMap(({ field }) => (field === "" ? [] : [field]));
}

function readRefusal(json: unknown): z.output<typeof refusalSchema> {
  const read = refusalSchema.safeParse(json);
  return read.success ? read.data : { message: "", errors: [] };
}

const word = z.string().catch("");
/** One error in a refusal: plain text, or an object with a resource, a field, a code and sometimes a message. */
const reasonSchema = z.union([
  z.string().transform((text) => ({ text, field: "" })),
  z
    .object({ resource: word, field: word, code: word, message: word })
    .transform(({ resource, field, code, message }) => {
      const place = [resource, field, code].filter((part) => part !== "").join(" ");
      return { text: [place, message].filter((part) => part !== "").join(": "), field };
    }),
  z.unknown().transform(() => ({ text: "", field: "" })),
]);
/** `errors` is a list of errors or a single error. */
const refusalSchema = z.object({
  message: word,
  errors: z.union([z.array(reasonSchema), reasonSchema.transform((reason) => [reason])]).catch([]),
});

/** A repository as the code host shows it now. The name can differ from the requested one. */
export interface RepositoryNow {
  /**
   * The repository's number at the code host; null if the host does not say. The number survives renames and transfers.
   */
  readonly id: number | null;
  /** The repository's current name, `owner/name`. */
  readonly name: string;
  readonly defaultBranch: string;
}

/** Reads a repository; null if the installation cannot reach a repository of that name. */
export async function readRepository(
  parts: RepositoryCallParts,
  there: RepositoryThere,
): Promise<RepositoryNow | null> {
  const answer = await callAs(parts, there, { what: "a repository", path: "" });
  if (answer.status === 404) return null;
  const { id, full_name, default_branch } = readAs(parts.name, repositorySchema, expectStatus(parts.name, answer, 200));
  return { id: id ?? null, name: full_name ?? there.repository, defaultBranch: default_branch };
}

const repositorySchema = z.object({
  id: z.int().positive().nullish(),
  full_name: z
    .string()
    .regex(/^[^/]+\/[^/]+$/)
    .max(200)
    .nullish(),
  default_branch: z.string().min(1).max(500),
});
