import { z } from "zod";
import type { PersonCaller } from "../../actors/caller.js";
import { notLinked } from "../../actors/integrations/authorization.js";
import { integrationConnectionSchema } from "../../actors/integrations/connection.js";
import {
  integrationConnectionRef,
  integrationConnectionTopic,
  type LinkConnection,
  type LinkEnded,
} from "../../actors/integrations/connection.messages.js";
import { findLinkedConnection } from "../../actors/integrations/connection.queries.js";
import { integrationConnectionView } from "../../actors/integrations/connection.view.js";
import { type LinkReturn, readLinkReturn } from "../../actors/integrations/link-authorization.js";
import { sealGrant } from "../../actors/integrations/oauth.effects.js";
import type { Sealer } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import { toPage } from "../access/page.js";
import { listenForOutcome } from "../wire/outcome-wait.js";
import { granted, Refused } from "../wire/refused.js";
import { type Route, route } from "../wire/route.js";

export interface CallbackRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

/** The redirect path below the base URL. Register it at each host. */
export const CALLBACK_PATH = "/api/oauth/callback";

const text = (maxLength: number) => z.string().min(1, "must not be empty").max(maxLength, "is too long");

const returnBody = z
  .strictObject({
    state: text(200).describe("The `state` that the host returned to the page."),
    code: text(8_192).optional().describe("The authorization code that the host issued; absent with `error`."),
    iss: text(2_000).optional().describe("The issuer that the host named (RFC 9207), if it named one."),
    error: text(200).optional().describe("The error that the host returned instead of a code."),
  })
  .refine(({ code, error }) => code !== undefined || error !== undefined, {
    path: ["code"],
    message: "is required without an error",
  });

/** The routes for the redirect back from a host: the page, and the request that its script sends. */
export function callbackRoutes(options: CallbackRoutesOptions): readonly Route[] {
  return [
    route({
      method: "GET",
      path: CALLBACK_PATH,
      operation: "showLinkPage",
      summary: "Open the page that a host redirects people to",
      description:
        "Register this address at the host as the redirect URI. The page's script sends what the host returned.",
      access: "public",
      answers: {
        200: {
          body: null,
          text: "text/html",
          headers: { "content-security-policy": "The content security policy of the page." },
        },
      },
      handle: () => callbackPage(),
    }),
    route({
      method: "POST",
      path: CALLBACK_PATH,
      operation: "endLink",
      summary: "Connect the account that a host authorized",
      description: "The state belongs to the caller's session. It can be used once, within ten minutes.",
      access: "person",
      body: returnBody,
      example: { state: "f3w9…", code: "splx…", iss: "https://accounts.example.com" },
      answers: { 200: integrationConnectionSchema },
      problems: ["refused-upstream", "forbidden", "not-found"],
      handle: async ({ caller, body }) => {
        const { state, code, iss, error } = body;
        const returned = granted(await readLinkReturn(options, caller, { state, code, iss, error }));
        const row = await link(options, caller, returned);
        return { status: 200, body: integrationConnectionView(options.runtime.reading, row) };
      },
    }),
  ];
}

/** Maximum time that a response waits for the host, in milliseconds. */
const HOST_WAIT_MS = 35_000;

/**
 * Exchanges the code and returns the connection. Throws {@link Refused} if the link fails, or if the host does not
 * respond within {@link HOST_WAIT_MS}. In the latter case, the connection may still be linked later.
 */
async function link({ runtime, sealer }: CallbackRoutesOptions, caller: PersonCaller, { key, grant }: LinkReturn) {
  const exchangeId = runtime.newId("link");
  const message: LinkConnection = {
    type: "connection.link",
    caller,
    exchangeId,
    sealedGrant: sealGrant(sealer, grant),
  };
  const toOutcome = (ended: LinkEnded) => (ended.exchangeId === exchangeId ? ended.failed : undefined);
  const topic = { workspaceId: key.workspaceId, topic: integrationConnectionTopic(key), toOutcome };
  const wait = listenForOutcome(runtime, topic, { maxMs: HOST_WAIT_MS, late: "the host has not responded yet" });
  try {
    granted(await runtime.ask(integrationConnectionRef(key), message));
    const failed = await wait.outcome;
    if (failed !== null) throw new Refused(notLinked(failed));
    return granted(findLinkedConnection(runtime.reading, key));
  } finally {
    wait.end();
  }
}

/** Removes the host's parameters from the address, sends them to the service once, and shows the result. */
const script = `
const says = document.querySelector("p");
const given = new URLSearchParams(location.search);
history.replaceState(null, "", location.pathname);

async function bring() {
  const body = {};
  for (const name of ["state", "code", "iss", "error"]) {
    const value = given.get(name);
    if (value !== null) body[name] = value;
  }
  const answer = await fetch("/api/oauth/callback", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (answer.status === 401) {
    says.textContent = "You are not signed in here any more. Sign in and connect the account again.";
    return;
  }
  const told = await answer.json();
  if (!answer.ok) {
    says.textContent = told.detail;
    return;
  }
  const account = told.account === null ? "The account" : "The account " + told.account;
  says.textContent = account + " is connected. You can close this page.";
}

bring().catch(() => {
  says.textContent = "The service cannot be reached. Connect the account again.";
});
`;

/** The page that a host redirects people back to. */
const callbackPage = toPage({
  title: "Connect an account",
  body: "<p>Connecting the account…</p>",
  script,
});
