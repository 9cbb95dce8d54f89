import { z } from "zod";
import { consumeOAuthState } from "../../actors/access/oauth-state.js";
import type { PersonCaller } from "../../actors/caller.js";
import {
  type PendingAuthorization,
  parsePendingAuthorization,
  whyNotFrom,
} from "../../actors/integrations/authorization.js";
import { integrationConnectionRef, type LinkConnection } from "../../actors/integrations/connection.messages.js";
import { findIntegrationConnection } from "../../actors/integrations/connection.table.js";
import { integrationConnectionSchema, integrationConnectionView } from "../../actors/integrations/connection.view.js";
import type { IntegrationConnectionKey } from "../../actors/integrations/connection-permissions.js";
import { sealGrant } from "../../actors/integrations/oauth.effects.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import type { Sealer } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import { type Answer, type Route, route } from "../route.js";
import { callbackPage } from "./callback-page.js";
import { listenForEnding } from "./link-ending.js";

export interface CallbackRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

/** Where hosts send people back to, under the base URL: register it there as it is. */
export const CALLBACK_PATH = "/api/oauth/callback";

const text = (most: number) => z.string().min(1, "must not be empty").max(most, "is too long");

const brought = z
  .strictObject({
    state: text(200),
    code: text(8_192).optional(),
    iss: text(2_000).optional(),
    error: text(200).optional(),
  })
  .refine(({ code, error }) => code !== undefined || error !== undefined, {
    path: ["code"],
    message: "is required without an error",
  });

/** The way back from a host: a page, and what its script brings. */
export function callbackRoutes(options: CallbackRoutesOptions): readonly Route[] {
  return [
    route({
      method: "GET",
      path: CALLBACK_PATH,
      operation: "showLinkPage",
      summary: "The page that a host sends people back to",
      access: "public",
      answers: {
        200: { body: null, text: "text/html", headers: { "content-security-policy": "What the page may load." } },
      },
      handle: () => callbackPage(),
    }),
    route({
      method: "POST",
      path: CALLBACK_PATH,
      operation: "endLink",
      summary: "Connect the account that a person comes back from a host with",
      description: "The state is the caller's, of their session, is used once, and lasts ten minutes.",
      access: "person",
      body: brought,
      example: { state: "f3w9…", code: "splx…", iss: "https://accounts.example.com" },
      answers: { 200: integrationConnectionSchema },
      problems: ["refused-upstream", "forbidden", "not-found"],
      handle: ({ caller, body }) => end(options, caller, body),
    }),
  ];
}

async function end(
  options: CallbackRoutesOptions,
  caller: PersonCaller,
  { state, code, iss, error }: z.output<typeof brought>,
): Promise<Answer | Refusal> {
  const terms = await consumeOAuthState(options.runtime, caller, { state, purpose: "integration" });
  if (isRefusal(terms)) return terms;
  const { workspaceId = "", integrationId = "", holder = "" } = terms.subject;
  const away = parsePendingAuthorization(options.sealer.open(terms.sealed ?? ""));
  const strange = whyNotFrom(away, iss);
  if (strange !== null) return { refused: "bad-request", detail: strange };
  if (code === undefined || error !== undefined) {
    const said = error === "access_denied" ? "access was denied" : "it says that something is wrong";
    return { refused: "conflict", detail: `The host did not link the account: ${said}. Connect it again.` };
  }
  return link(options, caller, { place: { workspaceId, integrationId, holder }, away, code });
}

async function link(
  { runtime, sealer }: CallbackRoutesOptions,
  caller: PersonCaller,
  {
    place,
    away,
    code,
  }: { readonly place: IntegrationConnectionKey; readonly away: PendingAuthorization; readonly code: string },
): Promise<Answer | Refusal> {
  const { verifier, redirectUri, issuer, tokenUrl, clientId } = away;
  const exchangeId = runtime.newId("link");
  const sealedGrant = sealGrant(sealer, { code, verifier, redirectUri, issuer, tokenUrl, clientId });
  const message: LinkConnection = { type: "connection.link", caller, exchangeId, sealedGrant };
  const ending = listenForEnding(runtime, place, exchangeId);
  try {
    const answer = await runtime.ask(integrationConnectionRef(place), message);
    if (isRefusal(answer)) return answer;
    const failed = await ending.failed;
    if (failed !== null) return notLinked(failed);
    const { workspaceId, integrationId, holder } = place;
    const row = findIntegrationConnection(runtime.reading, workspaceId, integrationId, holder);
    return row === undefined ? notLinked("it was disconnected meanwhile") : shown(runtime, row);
  } finally {
    ending.cancel();
  }
}

function shown({ reading }: Runtime, row: Parameters<typeof integrationConnectionView>[1]): Answer {
  return { status: 200, body: integrationConnectionView(reading, row) };
}

function notLinked(why: string): Refusal {
  const reason = why === "unknown" ? "the host has not answered yet" : why;
  return { refused: "refused-upstream", detail: `The account was not connected: ${reason}.` };
}
