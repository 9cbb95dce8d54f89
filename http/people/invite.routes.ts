import { z } from "zod";
import type { InviteMessage, InviteSent } from "../../actors/access/invite.messages.js";
import { type InviteRow, invites, listPendingInvites } from "../../actors/access/invite.table.js";
import { inviteSchema, inviteView } from "../../actors/access/invite.view.js";
import { mailAddress, maySignIn } from "../../actors/access/mail-address.js";
import { teamNames } from "../../actors/access/member.view.js";
import { findUser } from "../../actors/access/session.queries.js";
import { permit } from "../../actors/access/visibility.js";
import type { PersonCaller } from "../../actors/caller.js";
import { sealMail } from "../../actors/outbound/mail.effects.js";
import { inviteMail } from "../../actors/outbound/mail-texts.js";
import { type FieldError, isRefusal, type Refusal } from "../../actors/refusal.js";
import { distinct } from "../../actors/resources/fields.js";
import { findResource } from "../../actors/resources/resource.table.js";
import { type Sealer, sha256Hex } from "../../actors/sealer.js";
import { findWorkspaceBySlug } from "../../actors/workspaces/workspace.machine.js";
import { address } from "../../runtime/address.js";
import type { Runtime } from "../../runtime/runtime.js";
import { MailLimit } from "../limits/mail-limit.js";
import { cursor, pageSize } from "../paging.js";
import { type Answer, type Route, type RouteRequest, route } from "../route.js";
import { mailWentOut } from "./invite-delivery.js";

export interface InviteRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
  readonly baseUrl: () => string;
  /** Null admits any. */
  readonly signInDomains: readonly string[] | null;
}

const inviting = z.strictObject({
  emails: z.array(mailAddress).min(1, "must name at least one address").max(50, "must be at most 50 addresses"),
  role: z.enum(["admin", "member"], "must be admin or member").default("member"),
  teams: distinct(z.string(), "must name each team once").max(100, "must be at most 100 teams").default([]),
});

const outcomeSchema = z
  .strictObject({
    email: z.string(),
    outcome: z.enum(["invited", "sent-again", "already-a-member", "not-sent"]),
    /** Null for a member's address. */
    inviteId: z.string().nullable(),
  })
  .meta({ title: "invite-outcome" });

type Outcome = z.output<typeof outcomeSchema>;

const listing = z.strictObject({
  before: cursor.optional(),
  limit: pageSize(),
});

/** Invites that one person may send in an hour, in whatever workspaces: mails go to people who did not ask for them. */
const INVITES_PER_PERSON = 1_000;
const HOUR_MS = 60 * 60 * 1_000;

/** Inviting people by mail, for those who administer the workspace; for anyone else it is not there. */
export function inviteRoutes(options: InviteRoutesOptions): readonly Route[] {
  const { runtime } = options;
  const senders = new MailLimit({ max: INVITES_PER_PERSON, windowMs: HOUR_MS, clock: runtime.clock });
  const limited = (caller: PersonCaller, count: number): Refusal | null => {
    const retryAfterSeconds = senders.take(caller.userId, count);
    if (retryAfterSeconds === 0) return null;
    return { refused: "too-many-requests", detail: "You have sent too many invites.", retryAfterSeconds };
  };
  const admits = ({ caller, params }: Pick<RouteRequest<"person">, "caller" | "params">): Refusal | null =>
    administered(runtime, caller, params.slug) === undefined ? { refused: "not-found" } : null;
  return [
    route({
      method: "POST",
      path: "/api/workspaces/{slug}/invites",
      operation: "invite",
      summary: "Invite people by mail; each address has an outcome",
      access: "person",
      body: inviting,
      example: { emails: ["bob@example.com"], role: "member" },
      admits,
      answers: { 200: z.strictObject({ items: z.array(outcomeSchema) }) },
      handle: ({ caller, params, body }) =>
        limited(caller, body.emails.length) ?? invite(options, caller, params.slug, body),
    }),
    route({
      method: "GET",
      path: "/api/workspaces/{slug}/invites",
      operation: "listInvites",
      summary: "The open invites, newest first",
      access: "person",
      query: listing,
      answers: { 200: z.strictObject({ items: z.array(inviteSchema) }) },
      handle: ({ caller, params, query: { before, limit } }) => {
        const workspaceId = administered(runtime, caller, params.slug);
        if (workspaceId === undefined) return { refused: "not-found" };
        const page = { limit, nowMs: runtime.clock.now(), ...(before === undefined ? {} : { before }) };
        const items = listPendingInvites(runtime.reading, workspaceId, page);
        return { status: 200, body: { items: items.map((one) => inviteView(runtime.reading, workspaceId, one)) } };
      },
    }),
    route({
      method: "POST",
      path: "/api/workspaces/{slug}/invites/{inviteId}/resend",
      operation: "resendInvite",
      summary: "Send an open or expired invite again; the old link stops working",
      access: "person",
      body: z.strictObject({}),
      admits,
      answers: { 200: outcomeSchema },
      handle: ({ caller, params }) => limited(caller, 1) ?? resend(options, caller, params),
    }),
    route({
      method: "DELETE",
      path: "/api/workspaces/{slug}/invites/{inviteId}",
      operation: "revokeInvite",
      summary: "Revoke an invite; its link stops working",
      access: "person",
      answers: { 204: null },
      handle: async ({ caller, params }) => {
        const found = findInvite(runtime, caller, params);
        if (found === undefined) return { refused: "not-found" };
        const { workspaceId, row } = found;
        const revoked = await ask(runtime, workspaceId, row.email, { type: "invite.revoke", inviteId: row.inviteId });
        return isRefusal(revoked) ? revoked : { status: 204 };
      },
    }),
  ];
}

async function invite(
  options: InviteRoutesOptions,
  caller: PersonCaller,
  slug: string | undefined,
  body: z.output<typeof inviting>,
): Promise<Answer | Refusal> {
  const { runtime } = options;
  const workspaceId = administered(runtime, caller, slug);
  if (workspaceId === undefined) return { refused: "not-found" };
  const errors = faultsOf(options, workspaceId, body);
  if (errors.length > 0) return { refused: "invalid", errors };
  const { role, teams } = body;
  const items = [...new Set(body.emails)].map(async (email): Promise<Outcome | Refusal> => {
    const link = newLink(options, workspaceId, { email, role, teams, invitedBy: caller.userId });
    const sent = await ask(runtime, workspaceId, email, {
      type: "invite.send",
      by: caller.userId,
      role,
      teams,
      ...link,
    });
    if (sent === null) return { email, outcome: "already-a-member", inviteId: null };
    return isRefusal(sent) ? sent : outcomeOf(runtime, workspaceId, email, sent as InviteSent);
  });
  const outcomes = await Promise.all(items);
  return outcomes.find(isRefusal) ?? { status: 200, body: { items: outcomes } };
}

/** What of a request's addresses and teams cannot be: an invite that nobody could accept is not sent. */
function faultsOf(
  { runtime, signInDomains }: InviteRoutesOptions,
  workspaceId: string,
  { emails, teams }: z.output<typeof inviting>,
): FieldError[] {
  const barred = emails.flatMap((email, index): FieldError[] =>
    maySignIn(email, signInDomains)
      ? []
      : [{ path: `emails[${index}]`, message: "is of a mail domain that may not sign in here" }],
  );
  const missing = teams.flatMap((id, index): FieldError[] =>
    findResource(runtime.reading, workspaceId, "team", id) === undefined
      ? [{ path: `teams[${index}]`, message: "is no team of this workspace" }]
      : [],
  );
  return [...barred, ...missing];
}

async function resend(
  options: InviteRoutesOptions,
  caller: PersonCaller,
  params: Readonly<Record<string, string>>,
): Promise<Answer | Refusal> {
  const { runtime } = options;
  const found = findInvite(runtime, caller, params);
  if (found === undefined) return { refused: "not-found" };
  const { workspaceId, row } = found;
  const { email, inviteId } = row;
  const link = newLink(options, workspaceId, row);
  const sent = await ask(runtime, workspaceId, email, { type: "invite.resend", inviteId, ...link });
  if (isRefusal(sent)) return sent;
  return { status: 200, body: await outcomeOf(runtime, workspaceId, email, sent as InviteSent) };
}

async function outcomeOf(runtime: Runtime, workspaceId: string, email: string, sent: InviteSent): Promise<Outcome> {
  const wentOut = await mailWentOut(runtime, workspaceId, sent);
  return { email, outcome: wentOut ? sent.outcome : "not-sent", inviteId: sent.inviteId };
}

/** A fresh link and the sealed mail that holds it: the token is nowhere else. */
function newLink(
  { runtime, sealer, baseUrl }: InviteRoutesOptions,
  workspaceId: string,
  { email, role, teams, invitedBy }: Pick<InviteRow, "email" | "role" | "teams" | "invitedBy">,
): { readonly tokenHash: string; readonly sealedMail: string } {
  const { reading } = runtime;
  const token = Buffer.from(runtime.randomBytes(32)).toString("base64url");
  const workspace = findResource<{ readonly name: string }>(reading, workspaceId, "workspace", workspaceId);
  const inviter = findUser(reading, invitedBy);
  const mail = inviteMail({
    to: email,
    inviter: { name: inviter?.name ?? "Someone", email: inviter?.email ?? "no address" },
    workspace: workspace?.fields.name ?? "",
    role,
    teams: teamNames(reading, workspaceId, teams).map(({ name }) => name),
    link: `${baseUrl()}/invites/${token}`,
  });
  return { tokenHash: sha256Hex(token), sealedMail: sealMail(sealer, mail) };
}

function ask(runtime: Runtime, workspaceId: string, email: string, message: InviteMessage): Promise<unknown> {
  return runtime.ask(address(workspaceId, "invite", email), message);
}

function findInvite(
  runtime: Runtime,
  caller: PersonCaller,
  { slug, inviteId = "" }: Readonly<Record<string, string>>,
): { readonly workspaceId: string; readonly row: InviteRow } | undefined {
  const workspaceId = administered(runtime, caller, slug);
  const row = workspaceId === undefined ? undefined : invites.get(runtime.reading, workspaceId, inviteId);
  return workspaceId === undefined || row === undefined ? undefined : { workspaceId, row };
}

/** The workspace, for those who administer it; for anyone else it is not there. */
function administered(runtime: Runtime, caller: PersonCaller, slug = ""): string | undefined {
  const workspaceId = findWorkspaceBySlug(runtime.reading, slug);
  if (workspaceId === undefined) return undefined;
  return permit(runtime.reading, caller, workspaceId, "administer", "workspace") === null ? workspaceId : undefined;
}
