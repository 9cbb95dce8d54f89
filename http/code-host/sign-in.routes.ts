import { z } from "zod";
import { codeHostConnectionSchema } from "../../actors/code-host/connection.js";
import {
  attemptTopic,
  type ConfirmInstallation,
  type ConnectOutcome,
  codeHostConnectionRef,
} from "../../actors/code-host/connection.messages.js";
import { findAdministeredBySlug } from "../../actors/code-host/connection.queries.js";
import { codeHostConnectionView } from "../../actors/code-host/connection.view.js";
import { notAnswered } from "../../actors/code-host/refusals.js";
import {
  beginSignIn,
  readSignInReturn,
  type SignInOptions,
  type SignInReturn,
} from "../../actors/code-host/sign-in.js";
import type { CodeHost } from "../../actors/outbound/code-host/code-host.js";
import { isRefusal } from "../../actors/refusal.js";
import type { Sealer } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import { toPage } from "../access/page.js";
import { countAsking } from "../limits/asking-limit.js";
import type { RateLimit } from "../limits/rate-limit.js";
import { listenForOutcome } from "../wire/outcome-wait.js";
import { granted } from "../wire/refused.js";
import { type Route, type RouteRequest, route } from "../wire/route.js";
import { subjectRoute } from "../wire/subject-route.js";

export interface CodeHostSignInOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
  readonly baseUrl: () => string;
  readonly codeHost: CodeHost | null;
  /** Limits how many requests to the code host one person or token can cause. */
  readonly asking: RateLimit;
}

const CALLBACK_PATH = "/code-host/callback";

const installationId = z
  .int("must be the installation's number")
  .positive("must be the installation's number")
  .describe("The number of the installation. On the code host, the URL of its settings ends with it.");

const requiredText = (maxLength: number) => z.string().min(1, "must not be empty").max(maxLength, "is too long");

const returnBody = z
  .strictObject({
    state: requiredText(200).describe("The `state` that the code host returned to the page."),
    code: requiredText(1_000).optional().describe("The code that the code host issued for a sign-in."),
    error: requiredText(1_000).optional().describe("The error that the code host returned instead."),
  })
  .refine(({ code, error }) => (code === undefined) !== (error === undefined), "must have either code or error");

/**
 * The routes that connect an installation. The person signs in at the code host, and the code host confirms that they
 * administer the installation.
 */
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
      summary: "Start connecting an installation of the code host: returns the sign-in address",
      description:
        "For owners and admins. A person who administers the installation opens the address within ten minutes, " +
        "in the browser in which they are signed in here. The code host then sends them to a page that connects " +
        "the installation.",
      access: "any",
      body: z.strictObject({ installationId }),
      example: { installationId: 16598467 },
      answers: {
        200: z.strictObject({
          url: z.string().describe("The URL where the person signs in at the code host."),
          expiresAt: z.string().describe("Until when the sign-in can be finished: ten minutes from now."),
        }),
      },
      handle: async ({ body }, found) => {
        const { url, expiresAtMs } = granted(await beginSignIn(toSignInOptions(options), found, body.installationId));
        return { status: 200, body: { url, expiresAt: new Date(expiresAtMs).toISOString() } };
      },
    },
  );
}

function pageRoute(): Route {
  return route({
    method: "GET",
    path: CALLBACK_PATH,
    operation: "openCodeHostCallback",
    summary: "Open the page that the code host redirects people to",
    description: "Register this address as the app's callback URL. The page's script connects the installation.",
    access: "public",
    answers: {
      200: {
        body: null,
        text: "text/html",
        headers: { "content-security-policy": "The content security policy of the page." },
      },
    },
    handle: () => callbackPage(),
  });
}

function confirmRoute(options: CodeHostSignInOptions): Route {
  const { runtime, asking } = options;
  return route({
    method: "POST",
    path: "/api/code-host/confirmations",
    operation: "confirmCodeHostConnection",
    summary: "Connect the installation, if the code host confirms that the person administers it",
    description:
      "The page sends what the code host returned. Only the person who started the sign-in can do this, once.",
    access: "person",
    body: returnBody,
    example: { state: "the state that came back", code: "the code that came back" },
    answers: { 200: codeHostConnectionSchema },
    problems: ["refused-upstream", "not-found"],
    handle: async ({ caller, body: { state, code } }) => {
      countAsking(asking, caller);
      const returned = granted(await readSignInReturn(toSignInOptions(options), caller, { state, code }));
      const { connection } = granted(await connectOutcome(runtime, returned));
      return { status: 200, body: codeHostConnectionView(connection) };
    },
  });
}

function toSignInOptions({ runtime, sealer, baseUrl, codeHost }: CodeHostSignInOptions): SignInOptions {
  return { runtime, sealer, codeHost, redirectUri: `${baseUrl()}${CALLBACK_PATH}` };
}

/** Sends the code host's parameters to the service and shows the result as text. */
const script = `
const given = new URLSearchParams(location.search);
const says = document.querySelector("p");
// Neither the code nor the state is to stay in the address or in the history.
history.replaceState(null, "", location.pathname);

async function tell() {
  const state = given.get("state");
  const code = given.get("code");
  if (state === null) {
    const number = given.get("installation_id");
    const which = number === null ? "" : " Its number is " + number + ".";
    return "Nothing was begun here: connect the installation from a workspace." + which;
  }
  const what = code === null ? { error: given.get("error") ?? "no code came" } : { code };
  const answer = await fetch("/api/code-host/confirmations", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ state, ...what }),
  });
  const body = await answer.json();
  if (!answer.ok) return body.detail;
  const { account, host, state: now } = body;
  const also = now === "suspended" ? " It is suspended there." : "";
  return "The installation of " + account.login + " on " + host + " is connected." + also + " You can close this page.";
}

tell()
  .catch(() => "The service cannot be reached. Connect the installation again.")
  .then((text) => {
    says.textContent = text;
  });`;

/** The page that the code host redirects people back to. */
const callbackPage = toPage({
  title: "Connecting to Signalbox",
  body: "<p>One moment …</p><noscript>This page needs JavaScript.</noscript>",
  script,
});

/**
 * Maximum time that a response waits for the code host, in milliseconds. It is longer than the maximum time of the four
 * requests to the code host together.
 */
const WAIT_MS = 50_000;

/** Starts the confirmation of an installation and waits for its outcome. */
async function connectOutcome(
  runtime: Runtime,
  { workspaceId, installation, signedIn }: SignInReturn,
): Promise<ConnectOutcome> {
  const attemptId = runtime.newId("attempt");
  const topic = { workspaceId, topic: attemptTopic(attemptId), toOutcome: (outcome: ConnectOutcome) => outcome };
  const wait = listenForOutcome(runtime, topic, { maxMs: WAIT_MS, late: notAnswered(installation.host) });
  try {
    const message: ConfirmInstallation = { type: "installation.confirm", attemptId, ...signedIn };
    const refused = await runtime.ask(codeHostConnectionRef(workspaceId, installation), message);
    return isRefusal(refused) ? refused : await wait.outcome;
  } finally {
    wait.end();
  }
}
