import { z } from "zod";
import {
  type Call,
  expectStatus,
  type RepositoryCallParts,
  type RepositoryThere,
  readPages,
} from "./code-host-repository.js";
import { readAs } from "./code-host-requests.js";
import { hostedAuthorSchema } from "./hosted-pull-request.js";

/**
 * A text at the code host. The service's own texts start with a mark that people do not see. The service finds its own
 * texts by this mark.
 */
export const hostedTextSchema = z.object({
  user: hostedAuthorSchema,
  body: z
    .string()
    .nullish()
    .transform((body) => body ?? ""),
});

type HostedText = z.output<typeof hostedTextSchema>;

/** Maximum number of pages to search: 1,000 texts per pull request. */
const MAX_PAGES = 10;

/**
 * Finds the text that starts with `mark` and that the app itself wrote; null if there is none. Anyone can write a mark,
 * so the author must be the app.
 */
export async function findOwnText<Text extends HostedText>(
  parts: RepositoryCallParts,
  there: RepositoryThere,
  wanted: Call,
  { schema, mark }: { readonly schema: z.ZodType<Text>; readonly mark: string },
): Promise<Text | null> {
  const texts = await readPages(parts, there, wanted, { schema, most: MAX_PAGES });
  const marked = texts.filter(({ user, body }) => !user.isPerson && body.startsWith(mark));
  if (marked.length === 0) return null;
  const login = await readOwnLogin(parts);
  return marked.find(({ user }) => user.login === login) ?? null;
}

/** Returns the app's login. Asks each time, because an owner can rename the app. */
async function readOwnLogin({ ask, apiUrl, name, appToken }: RepositoryCallParts): Promise<string> {
  const answer = await ask({ what: "the app", url: `${apiUrl}/app`, authorization: `Bearer ${await appToken()}` });
  return `${readAs(name, appSchema, expectStatus(name, answer, 200)).slug}[bot]`;
}

const appSchema = z.object({ slug: z.string().min(1).max(255) });
