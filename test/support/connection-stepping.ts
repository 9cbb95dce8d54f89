import type { Role } from "../../actors/caller.js";
import type { IntegrationConnectionRow, LinkedTerms } from "../../actors/integrations/connection.js";
import { integrationConnectionActor } from "../../actors/integrations/connection.machine.js";
import { findIntegrationConnection } from "../../actors/integrations/connection.table.js";
import { EXCHANGE_EFFECT, REFRESH_EFFECT, REVOKE_EFFECT } from "../../actors/integrations/oauth.effects.js";
import { type ResourceRow, resources } from "../../actors/resources/resource.table.js";
import { putMember } from "../../actors/workspaces/member.table.js";
import { address } from "../../runtime/cells/address.js";
import type { Message } from "../../runtime/turns/turn.js";
import { type Stepping, stepByHand } from "./turn.js";

export const WORKSPACE = "ws_1";
const HOUR_MS = 60 * 60_000;
export const states = ["none", "linking", "connected", "refreshing", "broken", "revoking"] as const;
export type State = (typeof states)[number];

export const terms: LinkedTerms = {
  issuer: "https://host.example",
  tokenUrl: null,
  revokeUrl: null,
  clientId: "c",
  clientSecret: null,
  clientAuth: "basic",
  hosts: ["host.example"],
};

function toRow(kind: string, id: string, of: Partial<ResourceRow> = {}): ResourceRow {
  const common = { version: 1, workspaceId: WORKSPACE, teamId: null, address: id, fields: {}, hidden: {}, added: {} };
  return { id, kind, ...common, createdAt: "", updatedAt: "", ...of };
}

export function writeIntegration({ rows }: Stepping, oauth2: object | null, holder = "requester"): void {
  const fields = { connection: oauth2 === null ? null : { holder, oauth2 }, hosts: ["host.example"] };
  resources.put(rows, WORKSPACE, ["integration", "int_1"], toRow("integration", "int_1", { fields, teamId: "team_1" }));
}

export function personWith(userId: string, of: { readonly role?: Role; readonly teams?: readonly string[] } = {}) {
  return {
    userId,
    email: `${userId}@example.com`,
    role: of.role ?? "member",
    teams: of.teams ?? [],
    since: "",
  } as const;
}

/** Returns the connection of Ada or the team to an integration of her team. */
export function connection(holder = "usr_ada"): Stepping {
  const actor = stepByHand(integrationConnectionActor, address(WORKSPACE, "connection", `int_1:${holder}`));
  resources.put(actor.rows, WORKSPACE, ["workspace", WORKSPACE], toRow("workspace", WORKSPACE));
  writeIntegration(actor, terms);
  putMember(actor.rows, WORKSPACE, personWith("usr_ada", { teams: ["team_1"] }));
  putMember(actor.rows, WORKSPACE, personWith("usr_owner", { role: "owner" }));
  return actor;
}

const toCaller = (userId: string) => ({ kind: "person", userId, email: "", sessionId: "ses_1" }) as const;
export const link = (exchangeId: string, by = "usr_ada") =>
  ({ type: "connection.link", caller: toCaller(by), exchangeId, sealedGrant: "v1.grant" }) as Message;
export const disconnect = (by = "usr_ada") => ({ type: "connection.disconnect", caller: toCaller(by) }) as Message;
export const ask = (tools: readonly string[], by = "usr_ada") =>
  ({ type: "connection.ask", caller: toCaller(by), tools }) as Message;
export const check: Message = { type: "connection.check" };
export const woken = { type: "woken", name: "renew", dueMs: 0 } as Message;
export const ended = (id: string, output: unknown) =>
  ({ type: "effect.ended", effect: toEffect(id), id, result: { ok: true, output } }) as Message;
/**
 * Returns the name of an effect by its id. Ids of renewals and revocations start with their kind. Any other id belongs
 * to an exchange, because tests choose the ids of exchanges.
 */
const toEffect = (id: string) =>
  (/^renew_/.test(id) ? REFRESH_EFFECT : /^revoke_/.test(id) ? REVOKE_EFFECT : EXCHANGE_EFFECT).name;
export const linked = (actor: Stepping, more: object = {}) => ({
  ok: true,
  sealed: "v1.tokens",
  canRenew: true,
  expiresAtMs: actor.now + HOUR_MS,
  scopes: ["read"],
  terms,
  account: "ada@host",
  ...more,
});
export const failed = (isFinal = false) => ({ ok: false, isFinal, reason: "the host answered no" });
export const crashed = (id: string) =>
  ({ type: "effect.ended", effect: toEffect(id), id, result: { ok: false, error: "gone" } }) as Message;
export const kept = (actor: Stepping, holder = "usr_ada"): IntegrationConnectionRow | undefined =>
  findIntegrationConnection(actor.rows, WORKSPACE, "int_1", holder);
export const listEffects = ({ started }: { readonly started: readonly { readonly name: string }[] }) =>
  started.map(({ name }) => name);

/**
 * Creates a connection and sends it messages until it is in the given state. Also returns the id of the effect in
 * progress; empty if there is none.
 */
export function inState(state: State): { readonly actor: Stepping; readonly effectId: string } {
  const actor = connection();
  if (state === "none") return { actor, effectId: "" };
  actor.take(link("first"));
  if (state === "linking") return { actor, effectId: "first" };
  actor.take(ended("first", linked(actor)));
  if (state === "connected") return { actor, effectId: "" };
  if (state === "revoking") return { actor, effectId: actor.take(disconnect()).started[0]?.id ?? "" };
  const effectId = actor.take(woken).started[0]?.id ?? "";
  if (state === "broken") actor.take(ended(effectId, failed(true)));
  return { actor, effectId: state === "broken" ? "" : effectId };
}
