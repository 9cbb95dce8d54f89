import { createHash } from "node:crypto";
import { z } from "zod";
import { beginOAuthState, consumeOAuthState } from "../../actors/access/oauth-state.js";
import type { PersonCaller } from "../../actors/caller.js";
import { sealSignInGrant } from "../../actors/code-host/confirmation.effects.js";
import type { ConnectOutcome } from "../../actors/code-host/connection.messages.js";
import {
  type AdministeredWorkspace,
  findAdministered,
  findAdministeredBySlug,
} from "../../actors/code-host/connection.queries.js";
import { codeHostConnectionSchema, codeHostConnectionView } from "../../actors/code-host/connection.view.js";
import { notConfirmed, notSetUp } from "../../actors/code-host/refusals.js";
import type { CodeHost } from "../../actors/outbound/code-host.js";
import type { Sealer } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { RateLimit } from "../limits/rate-limit.js";
import { granted, Refused } from "../refused.js";
import { type Route, type RouteRequest, route } from "../route.js";
import { subjectRoute } from "../subject-route.js";
import { countAsking } from "./asking-limit.js";
import { callbackPage } from "./callback-page.js";
import { connectOutcome } from "./connect-outcome.js";

export interface CodeHostSignInOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
  readonly baseUrl: () => string;
  readonly codeHost: CodeHost | null;
  /** How often a person may have the code host asked. */
  readonly asking: RateLimit;
}

const CALLBACK_PATH = "/code-host/callback";

const installationId = z.int("must be the installation's number").positive("must be the installation's number");

const wordOf = (most: number) => z.string().min(1, "must not be empty").max(most, "is too long");

const comingBack = z
  .strictObject({
    state: wordOf(200),
    code: wordOf(1_000).optional().describe("What the code host gave for a sign-in."),
    error: wordOf(1_000).optional().describe("What it gave instead."),
  })
  .refine(({ code, error }) => (code === undefined) !== (error === undefined), "must hold either code or error");

/** Connecting an installation: a person signs in at the code host, which then says whether it is theirs. */
export function codeHostSignInRoutes(options: CodeHostSignInOptions): readonly Route[] {
  return [beginRoute(options), pageRoute(), confirmRoute(options)];
}

function beginRoute(options: CodeHostSignInOptions): Route {
  const { runtime, codeHost } = options;
  const find = ({ caller, params }: Pick<RouteRequest<"any">, "caller" | "params">) =>
    findAdministeredBySlug(runtime.reading, caller, { slug: params.slug ?? "", host: codeHost?.name ?? null });
  return subjectRoute(
    { find },
    {
      method: "POST",
      path: "/api/workspaces/{slug}/code-host/connections",
      operation: "beginCodeHostConnection",
      summary: "Begin to connect an installation of the code host: the address to sign in at",
      description:
        "For owners and admins. Whoever administers the installation opens the address in the browser that they are " +
        "signed in here with, within ten minutes; they come back to a page that connects it.",
      access: "any",
      body: z.strictObject({ installationId }),
      example: { installationId: 16598467 },
      answers: { 200: z.strictObject({ url: z.string(), expiresAt: z.string() }) },
      handle: async ({ body }, found) => ({ status: 200, body: await begin(options, found, body.installationId) }),
    },
  );
}

function pageRoute(): Route {
  return route({
    method: "GET",
    path: CALLBACK_PATH,
    operation: "openCodeHostCallback",
    summary: "The page that a person comes back to from the code host",
    access: "public",
    answers: {
      200: { body: null, text: "text/html", headers: { "content-security-policy": "What the page may load." } },
    },
    handle: () => callbackPage(),
  });
}

function confirmRoute(options: CodeHostSignInOptions): Route {
  return route({
    method: "POST",
    path: "/api/code-host/confirmations",
    operation: "confirmCodeHostConnection",
    summary: "Connect the installation, once the code host confirms that the person administers it",
    description: "What the page does with what the code host sent back; by the person who began it, once.",
    access: "person",
    body: comingBack,
    example: { state: "the state that came back", code: "the code that came back" },
    answers: { 200: codeHostConnectionSchema },
    problems: ["refused-upstream", "not-found"],
    handle: async ({ caller, body }) => {
      const { connection } = granted(await confirm(options, caller, body));
      return { status: 200, body: codeHostConnectionView(connection) };
    },
  });
}

async function begin(
  { runtime, sealer, baseUrl, codeHost }: CodeHostSignInOptions,
  { workspaceId, administrator }: AdministeredWorkspace,
  number: number,
): Promise<{ readonly url: string; readonly expiresAt: string }> {
  if (codeHost === null) throw new Refused(notSetUp);
  const verifier = Buffer.from(runtime.randomBytes(32)).toString("base64url");
  const { state, expiresAtMs } = await beginOAuthState(runtime, administrator, {
    purpose: "code-host",
    subject: { workspaceId, installationId: String(number) },
    sealed: sealer.seal(verifier),
  });
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const url = codeHost.signInUrl({ state, challenge, redirectUri: `${baseUrl()}${CALLBACK_PATH}` });
  return { url, expiresAt: new Date(expiresAtMs).toISOString() };
}

async function confirm(
  { runtime, sealer, baseUrl, codeHost, asking }: CodeHostSignInOptions,
  caller: PersonCaller,
  { state, code }: z.output<typeof comingBack>,
): Promise<ConnectOutcome> {
  countAsking(asking, caller);
  const begun = granted(await consumeOAuthState(runtime, caller, { state, purpose: "code-host" }));
  if (codeHost === null) return notSetUp;
  const { name: host } = codeHost;
  const { workspaceId = "", installationId: number } = begun.subject;
  granted(findAdministered(runtime.reading, caller, { workspaceId, host }));
  if (code === undefined || begun.sealed === null) return notConfirmed(host);
  const verifier = sealer.open(begun.sealed);
  const redirectUri = `${baseUrl()}${CALLBACK_PATH}`;
  const installation = { host, installationId: Number(number) };
  const grant = { installationId: installation.installationId, code, verifier, redirectUri };
  const signedIn = { by: caller.userId, sealedSignIn: sealSignInGrant(sealer, grant) };
  return connectOutcome(runtime, workspaceId, installation, signedIn);
}
