import { z } from "zod";
import {
  accountRef,
  type CloseSession,
  type OpenSession,
  type SetName,
} from "../../actors/access/accounts/account.messages.js";
import { mailAddress, maySignIn } from "../../actors/access/accounts/mail-address.js";
import { sessionSchema, userName } from "../../actors/access/accounts/session.js";
import { findEmailByLink, SESSION_MS } from "../../actors/access/accounts/session.queries.js";
import { sessionView } from "../../actors/access/accounts/session.view.js";
import { sealMail } from "../../actors/outbound/mail/mail.effects.js";
import { signInMail } from "../../actors/outbound/mail/mail-texts.js";
import type { Refusal } from "../../actors/refusal.js";
import { type Sealer, sha256Hex } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import { toSource } from "../limits/client-address.js";
import { MailLimit } from "../limits/mail-limit.js";
import { granted } from "../wire/refused.js";
import { type Answer, type Route, route, type Success } from "../wire/route.js";
import { SESSION_COOKIE, sessionToken } from "./authenticate.js";
import { toPage } from "./page.js";
import { issueSignInLink, makeToken } from "./sign-in-link.js";

export interface SessionRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
  readonly baseUrl: () => string;
  /** Mail domains that may sign in; null allows all domains. */
  readonly signInDomains: readonly string[] | null;
}

/** Maximum number of sign-in requests from one source in {@link SIGN_IN_WINDOW_MS}. */
const SIGN_INS_PER_SOURCE = 30;
const SIGN_IN_WINDOW_MS = 15 * 60 * 1_000;

const token = z
  .string()
  .min(1, "must not be empty")
  .max(200, "is too long")
  .describe("Last part of the sign-in link's address; usable once, for 15 minutes.");

const setsCookie: Success = { body: null, headers: { "set-cookie": "The session's cookie." } };

/** The routes for sign-in by a mailed link, and for the session that the link opens. */
export function sessionRoutes(options: SessionRoutesOptions): readonly Route[] {
  return [
    askForLink(options),
    openRoute(options),
    readRoute(options),
    nameRoute(options),
    closeRoute(options),
    pageRoute,
  ];
}

function askForLink(options: SessionRoutesOptions): Route {
  const { clock } = options.runtime;
  const sources = new MailLimit({ max: SIGN_INS_PER_SOURCE, windowMs: SIGN_IN_WINDOW_MS, clock });
  return route({
    method: "POST",
    path: "/api/sign-in",
    isServedReadOnly: true,
    summary: "Send a sign-in link by email",
    description:
      "Always responds with 202, even if the address may not sign in. The link works once, for 15 minutes. Without " +
      "`SMTP_URL` the service logs the link instead.",
    access: "public",
    body: z.strictObject({ email: mailAddress.describe("Address to send the link to; at most 254 characters.") }),
    answers: { 202: null },
    handle: async (request) => {
      const source = toSource(request.remoteAddress);
      const wait = sources.take(source);
      if (wait > 0) {
        return {
          refused: "too-many-requests",
          detail: "Too many sign-in attempts from this address.",
          retryAfterSeconds: wait,
        };
      }
      return sendLink(options, { to: request.body.email, source: sha256Hex(source) });
    },
  });
}

function openRoute(options: SessionRoutesOptions): Route {
  return route({
    method: "POST",
    path: "/api/sessions",
    isServedReadOnly: true,
    summary: "Start a session with the token of a sign-in link",
    description: "Sets the cookie `session`, which is valid for 30 days. A link that is used or expired gets 401.",
    access: "public",
    body: z.strictObject({ token }),
    answers: { 204: setsCookie },
    problems: ["unauthenticated"],
    handle: (request) => openSession(options, request.body.token),
  });
}

function readRoute({ runtime: { reading } }: SessionRoutesOptions): Route {
  return route({
    method: "GET",
    path: "/api/sessions/me",
    summary: "Read the signed-in person and their workspaces",
    description: "Requires a session; workspace tokens are not accepted.",
    access: "person",
    answers: { 200: sessionSchema },
    handle: ({ caller }) => ({ status: 200, body: sessionView(reading, caller) }),
  });
}

function nameRoute({ runtime }: SessionRoutesOptions): Route {
  return route({
    method: "PATCH",
    path: "/api/sessions/me",
    summary: "Set the name of the signed-in person",
    description: "The name is shown in every workspace from then on. At first it is the start of the mail address.",
    access: "person",
    body: z.strictObject({ name: userName }),
    example: { name: "Ada Lovelace" },
    answers: { 200: sessionSchema },
    handle: async ({ caller, body }) => {
      const message: SetName = { type: "name.set", name: body.name };
      await runtime.ask(accountRef(caller.email), message);
      return { status: 200, body: sessionView(runtime.reading, caller) };
    },
  });
}

function closeRoute({ runtime, baseUrl }: SessionRoutesOptions): Route {
  return route({
    method: "DELETE",
    path: "/api/sessions",
    isServedReadOnly: true,
    summary: "Sign out",
    description: "Ends the session of the cookie and removes the cookie. Other sessions of the person continue.",
    access: "person",
    answers: { 204: setsCookie },
    handle: async ({ caller, header }) => {
      const sessionHash = sha256Hex(sessionToken(header("cookie")) ?? "");
      const message: CloseSession = { type: "session.close", sessionHash };
      await runtime.ask(accountRef(caller.email), message);
      return { status: 204, headers: { "set-cookie": cookie(baseUrl(), "", 0) } };
    },
  });
}

const pageRoute = route({
  method: "GET",
  path: "/sign-in/{token}",
  summary: "Open the page of a sign-in link",
  description: "Shows a button that starts the session. Opening the page alone does not use up the link.",
  access: "public",
  answers: {
    200: {
      body: null,
      text: "text/html",
      headers: { "content-security-policy": "The content security policy of the page." },
    },
  },
  handle: () => signInPage(),
});

async function sendLink(
  options: SessionRoutesOptions,
  { to, source }: { readonly to: string; readonly source: string },
): Promise<Answer | Refusal> {
  if (!maySignIn(to, options.signInDomains)) return { status: 202 };
  const sealedMailOf = (link: string) => sealMail(options.sealer, signInMail(to, link));
  await issueSignInLink(options, { to, source, sealedMailOf });
  return { status: 202 };
}

async function openSession(options: SessionRoutesOptions, linkToken: string): Promise<Answer | Refusal> {
  const { runtime } = options;
  const linkHash = sha256Hex(linkToken);
  const to = findEmailByLink(runtime.reading, linkHash, runtime.clock.now());
  if (to === null) return { refused: "unauthenticated", detail: "This sign-in link is used up or too old." };
  const value = makeToken(runtime);
  const message: OpenSession = { type: "session.open", linkHash, sessionHash: sha256Hex(value) };
  granted(await runtime.ask(accountRef(to), message));
  return { status: 204, headers: { "set-cookie": cookie(options.baseUrl(), value, SESSION_MS / 1_000) } };
}

function cookie(baseUrl: string, value: string, seconds: number): string {
  const secure = baseUrl.startsWith("https:") ? "; Secure" : "";
  return `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

/**
 * The page reads the token from its own address, and uses the token only when the person clicks the button. So a link
 * checker, which opens every link in a mail, does not use up the token. If the link ends with `#/tasks/<id>`, the
 * browser continues to this task's page after the sign-in.
 */
const script = `
document.querySelector("button").addEventListener("click", async () => {
  const token = location.pathname.split("/").pop();
  const answer = await fetch("/api/sessions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  const { hash } = location;
  if (answer.ok && /^#\\/tasks\\/\\w+$/.test(hash)) return location.replace(hash.slice(1));
  history.replaceState(null, "", "/sign-in/done");
  document.querySelector("p").textContent = answer.ok
    ? "You are signed in."
    : "This link is used up or too old. Ask for a new one.";
  document.querySelector("button").remove();
});`;

/** The page that a sign-in link opens. */
const signInPage = toPage({
  title: "Sign in to Signalbox",
  body: "<p>Sign in on this device?</p><button>Sign in</button>",
  script,
});
