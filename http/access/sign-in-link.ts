import { accountRef, type SendLink } from "../../actors/access/accounts/account.messages.js";
import { sha256Hex } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import { granted } from "../wire/refused.js";

/** The recipient of a sign-in link, and the mail that contains it. */
export interface WantedLink {
  readonly to: string;
  /**
   * The source that the limit on links counts against. For a request, this is the client address as a SHA-256 digest.
   * For a link that no request asked for, it is a random text.
   */
  readonly source: string;
  /** Returns the sealed mail that contains the link. If this is null, the service sends no mail. */
  readonly sealedMailOf: ((link: string) => string) | null;
}

/**
 * Issues a link that signs a person in once, and returns the link. Throws `Refused` if the source requested too many
 * links.
 */
export async function issueSignInLink(
  { runtime, baseUrl }: { readonly runtime: Runtime; readonly baseUrl: () => string },
  { to, source, sealedMailOf }: WantedLink,
): Promise<string> {
  const token = makeToken(runtime);
  const link = `${baseUrl()}/sign-in/${token}`;
  const sealedMail = sealedMailOf?.(link) ?? null;
  const message: SendLink = { type: "link.send", tokenHash: sha256Hex(token), sealedMail, source };
  granted(await runtime.ask(accountRef(to), message));
  return link;
}

/** Creates a random token of 43 characters. */
export function makeToken(runtime: Pick<Runtime, "randomBytes">): string {
  return Buffer.from(runtime.randomBytes(32)).toString("base64url");
}
