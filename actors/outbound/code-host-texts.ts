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
 * A text that somebody wrote at the code host. One of the service begins with a mark, which people do not see, and is
 * found again by it.
 */
export const hostedTextSchema = z.object({
  user: hostedAuthorSchema,
  body: z
    .string()
    .nullish()
    .transform((body) => body ?? ""),
});

type HostedText = z.output<typeof hostedTextSchema>;

/** As many texts as a pull request may be asked for: 1,000. */
const MAX_PAGES = 10;

/**
 * The text that begins with the mark and that the app itself wrote, in its own name; null for none. Anybody can write a
 * mark: what others wrote is never taken for the service's own.
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

/** The name that the app writes in. It is asked for each time: an owner may rename the app. */
async function readOwnLogin({ ask, apiUrl, name, appToken }: RepositoryCallParts): Promise<string> {
  const answer = await ask({ what: "the app", url: `${apiUrl}/app`, authorization: `Bearer ${appToken()}` });
  return `${readAs(name, appSchema, expectStatus(name, answer, 200)).slug}[bot]`;
}

const appSchema = z.object({ slug: z.string().min(1).max(255) });
