import { z } from "zod";
import { mailAddress } from "../../actors/access/accounts/mail-address.js";
import { inviteSchema, inviteTopic } from "../../actors/access/invites/invite.js";
import {
  type InviteSent,
  inviteRef,
  type ResendInvite,
  type SendInvite,
} from "../../actors/access/invites/invite.messages.js";
import { didMailGoOut, findInvite, listPendingInvites } from "../../actors/access/invites/invite.queries.js";
import { inviteMailView, inviteView } from "../../actors/access/invites/invite.view.js";
import { MAX_INVITES_AN_HOUR, refuseInvites, tooManyInvites } from "../../actors/access/invites/invite-terms.js";
import type { PersonCaller } from "../../actors/caller.js";
import { sealMail } from "../../actors/outbound/mail/mail.effects.js";
import { inviteMail } from "../../actors/outbound/mail/mail-texts.js";
import { distinct } from "../../actors/resources/fields.js";
import { type Sealer, sha256Hex } from "../../actors/sealer.js";
import { readListPage } from "../../actors/tables/list-page.js";
import type { Runtime } from "../../runtime/runtime.js";
import { MailLimit } from "../limits/mail-limit.js";
import { listenForOutcome } from "../wire/outcome-wait.js";
import { idCursor, nextPage, pageSize } from "../wire/paging.js";
import { granted, Refused } from "../wire/refused.js";
import type { Route } from "../wire/route.js";
import { workspaceRoute } from "../wire/workspace-route.js";

export interface InviteRoutesOptions {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
  readonly baseUrl: () => string;
  /** Mail domains that may sign in; null allows all domains. */
  readonly signInDomains: readonly string[] | null;
}

const inviting = z.strictObject({
  emails: z
    .array(mailAddress)
    .min(1, "must name at least one address")
    .max(50, "must be at most 50 addresses")
    .describe("Mail addresses to invite, 1 to 50."),
  role: z
    .enum(["admin", "member"], "must be admin or member")
    .default("member")
    .describe("Role that the people get in the workspace."),
  teams: distinct(z.string(), "must name each team once")
    .max(100, "must be at most 100 teams")
    .default([])
    .describe("Ids of the teams that the people join; at most 100."),
});

const outcomeSchema = z
  .strictObject({
    email: z.string().describe("Address that the outcome is for, in lower case."),
    outcome: z
      .enum(["invited", "sent-again", "already-a-member", "not-sent"])
      .describe("`not-sent`: the invite exists, but its mail failed or is late; resend it."),
    inviteId: z.string().nullable().describe("Id of the invite; null if the address belongs to a member."),
  })
  .meta({ title: "invite-outcome" });

type Outcome = z.output<typeof outcomeSchema>;

const listing = z.strictObject({
  before: idCursor("inv"),
  limit: pageSize(),
});

const HOUR_MS = 60 * 60 * 1_000;

/** Counts the invites that a person sends. Throws {@link Refused} if there are too many. */
type CountInvites = (caller: PersonCaller, count: number) => void;

/** The routes to invite people by mail, for administrators of the workspace. Anyone else gets 404. */
export function inviteRoutes(options: InviteRoutesOptions): readonly Route[] {
  const senders = new MailLimit({ max: MAX_INVITES_AN_HOUR, windowMs: HOUR_MS, clock: options.runtime.clock });
  const countInvites: CountInvites = (caller, count) => {
    const retryAfterSeconds = senders.take(caller.userId, count);
    if (retryAfterSeconds > 0) throw new Refused(tooManyInvites(retryAfterSeconds));
  };
  return [
    inviteRoute(options, countInvites),
    listRoute(options),
    resendRoute(options, countInvites),
    revokeRoute(options),
  ];
}

function inviteRoute(options: InviteRoutesOptions, countInvites: CountInvites): Route {
  return workspaceRoute(options.runtime, "administers", {
    method: "POST",
    path: "/api/workspaces/{slug}/invites",
    operation: "invite",
    summary: "Invite people by email; the response has an outcome for each address",
    description:
      "Requires an owner or admin. Each invite lasts 14 days. Inviting an address again replaces its open invite and " +
      "its link.",
    access: "person",
    body: inviting,
    example: { emails: ["bob@example.com"], role: "member" },
    isCheckedFirst: true,
    answers: {
      200: z.strictObject({ items: z.array(outcomeSchema).describe("One outcome for each address of the request.") }),
    },
    handle: async ({ caller, body }, { workspaceId }) => {
      countInvites(caller, body.emails.length);
      const { emails, teams } = body;
      const { runtime, signInDomains } = options;
      granted(refuseInvites(runtime.reading, { workspaceId, emails, teams, signInDomains }));
      return { status: 200, body: { items: await inviteAll(options, caller, { ...body, workspaceId }) } };
    },
  });
}

function listRoute({ runtime }: InviteRoutesOptions): Route {
  const { reading, clock } = runtime;
  return workspaceRoute(runtime, "administers", {
    method: "GET",
    path: "/api/workspaces/{slug}/invites",
    operation: "listInvites",
    summary: "List the open invites, newest first",
    description: "Requires an owner or admin. Expired, revoked and accepted invites are not listed.",
    access: "person",
    query: listing,
    answers: {
      200: z.strictObject({
        items: z.array(inviteSchema).describe("Invites of the page, newest first."),
        next: nextPage("before"),
      }),
    },
    handle: ({ query }, { workspaceId }) => {
      const { rows, next } = readListPage(
        query,
        (page) => listPendingInvites(reading, workspaceId, { ...page, nowMs: clock.now() }),
        ({ inviteId }) => inviteId,
      );
      return { status: 200, body: { items: rows.map((one) => inviteView(reading, workspaceId, one)), next } };
    },
  });
}

function resendRoute(options: InviteRoutesOptions, countInvites: CountInvites): Route {
  const { runtime } = options;
  return workspaceRoute(runtime, "administers", {
    method: "POST",
    path: "/api/workspaces/{slug}/invites/{inviteId}/resend",
    operation: "resendInvite",
    summary: "Resend an open or expired invite; the old link stops working",
    description: "Requires an owner or admin. The invite lasts another 14 days, with the same role and teams.",
    access: "person",
    body: z.strictObject({}),
    isCheckedFirst: true,
    answers: { 200: outcomeSchema },
    handle: async ({ caller, params }, { workspaceId }) => {
      countInvites(caller, 1);
      const invite = granted(findInvite(runtime.reading, workspaceId, params.inviteId ?? ""));
      const { email, inviteId } = invite;
      const link = newLink(options, workspaceId, invite);
      const message: ResendInvite = { type: "invite.resend", inviteId, ...link };
      const sent = granted(await runtime.ask(inviteRef(workspaceId, email), message));
      return { status: 200, body: await readOutcome(runtime, workspaceId, email, sent) };
    },
  });
}

function revokeRoute({ runtime }: InviteRoutesOptions): Route {
  return workspaceRoute(runtime, "administers", {
    method: "DELETE",
    path: "/api/workspaces/{slug}/invites/{inviteId}",
    operation: "revokeInvite",
    summary: "Revoke an invite; its link stops working",
    description: "Requires an owner or admin. Revoking again changes nothing; an accepted invite cannot be revoked.",
    access: "person",
    answers: { 204: null },
    handle: async ({ params }, { workspaceId }) => {
      const { email, inviteId } = granted(findInvite(runtime.reading, workspaceId, params.inviteId ?? ""));
      granted(await runtime.ask(inviteRef(workspaceId, email), { type: "invite.revoke", inviteId }));
      return { status: 204 };
    },
  });
}

/** Invites each address once. If an invite fails, waits for all other invites before it throws the first error. */
async function inviteAll(
  options: InviteRoutesOptions,
  caller: PersonCaller,
  { workspaceId, emails, role, teams }: z.output<typeof inviting> & { readonly workspaceId: string },
): Promise<readonly Outcome[]> {
  const { runtime } = options;
  const asked = [...new Set(emails)].map(async (email): Promise<Outcome> => {
    const link = newLink(options, workspaceId, { email, role, teams, invitedBy: caller.userId });
    const message: SendInvite = { type: "invite.send", by: caller.userId, role, teams, ...link };
    const sent = await runtime.ask(inviteRef(workspaceId, email), message);
    if (sent === null) return { email, outcome: "already-a-member", inviteId: null };
    return readOutcome(runtime, workspaceId, email, sent);
  });
  const settled = await Promise.allSettled(asked);
  return settled.map((each) => {
    if (each.status === "rejected") throw each.reason;
    return each.value;
  });
}

async function readOutcome(runtime: Runtime, workspaceId: string, email: string, sent: InviteSent): Promise<Outcome> {
  const wentOut = await mailWentOut(runtime, workspaceId, sent.inviteId);
  return { email, outcome: wentOut ? sent.outcome : "not-sent", inviteId: sent.inviteId };
}

/**
 * Creates an invite link. Returns the hash of its token, and the sealed mail that contains the link. The token is
 * stored nowhere else.
 */
function newLink(
  { runtime, sealer, baseUrl }: InviteRoutesOptions,
  workspaceId: string,
  terms: Parameters<typeof inviteMailView>[2],
): { readonly tokenHash: string; readonly sealedMail: string } {
  const token = Buffer.from(runtime.randomBytes(32)).toString("base64url");
  const offer = inviteMailView(runtime.reading, workspaceId, terms);
  const mail = inviteMail({ ...offer, link: `${baseUrl()}/invites/${token}` });
  return { tokenHash: sha256Hex(token), sealedMail: sealMail(sealer, mail) };
}

/** Maximum time that a response waits for an invite's mail, in milliseconds. After that the mail counts as not sent. */
const MAIL_WAIT_MS = 10_000;

/**
 * Resolves with true when the invite's mail is sent. Resolves with false when sending failed, or after {@link
 * MAIL_WAIT_MS}.
 */
async function mailWentOut(runtime: Runtime, workspaceId: string, inviteId: string): Promise<boolean> {
  const look = () => didMailGoOut(runtime.reading, workspaceId, inviteId);
  const topic = { workspaceId, topic: inviteTopic(inviteId), toOutcome: look };
  const wait = listenForOutcome(runtime, topic, { maxMs: MAIL_WAIT_MS, late: false });
  try {
    return look() ?? (await wait.outcome);
  } finally {
    wait.end();
  }
}
