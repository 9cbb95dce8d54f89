/**
 * A user's account, `account/<mail address>` in the global partition, with its sign-in links and sessions.
 *
 * | state   | moved by                          | next    | also                                              |
 * |---------|-----------------------------------|---------|---------------------------------------------------|
 * | unknown | link.send                         | unknown | stores the link's hash, sends its mail; or refuses |
 * | unknown | session.open with a live link     | known   | creates the account, consumes the link            |
 * | known   | link.send                         | known   | as above                                          |
 * | known   | session.open with a live link     | known   | consumes the link                                 |
 * | either  | session.open with no live link    | same    | refused `unauthenticated`                         |
 * | known   | session.close                     | known   | the session ends at once                          |
 * | known   | name.set                          | known   | the user's name, from now on                      |
 * | either  | woken `expire`                    | same    | removes expired links and sessions                |
 * | unknown | woken `expire`, no link left      | (ended) | no rows remain for an address without account     |
 * | either  | effect.ended, the mail was sent   | same    | removes the mail                                  |
 * | either  | effect.ended, the mail failed     | same    | retries up to 3 times, while its link is valid    |
 * | either  | woken `mail <id>`                 | same    | sends the mail again                              |
 */
import { createChart } from "../../../runtime/cells/chart.js";
import { defineActor } from "../../../runtime/cells/define-actor.js";
import type { Delivered, EffectEnded, Turn, Woken } from "../../../runtime/turns/turn.js";
import { GLOBAL_PARTITION } from "../../../storage/keys.js";
import { MAIL_EFFECT } from "../../outbound/mail/mail.effects.js";
import type { Refusal } from "../../refusal.js";
import { accountRef, type CloseSession, type OpenSession, type SendLink, type SetName } from "./account.messages.js";
import { SESSION_MS } from "./session.queries.js";
import { SIGN_IN_LINK_MS, sessions, signInLinks, users } from "./session.table.js";

interface ExpiringHash {
  readonly hash: string;
  readonly expiresAtMs: number;
}

interface Link extends ExpiringHash {
  /** The client address of the request, as a digest; absent in links of earlier releases. */
  readonly source?: string;
}

interface AccountContext {
  readonly email: string;
  readonly userId: string | null;
  readonly links: readonly Link[];
  readonly sessions: readonly ExpiringHash[];
  /** Mails that are not confirmed as sent. */
  readonly mails: readonly OpenMail[];
}

interface OpenMail {
  readonly id: string;
  readonly sealedMail: string;
  readonly attempts: number;
  readonly expiresAtMs: number;
}

/** Maximum number of valid links that one source may have requested for this address. */
const MAX_LINKS_OF_SOURCE = 5;
/**
 * Once an address has this many valid links, each source may have only one valid link for the address. So a few sources
 * cannot use up {@link MAX_LINKS} and lock the user out.
 */
const MANY_LINKS = 20;
/** Maximum number of valid links of one address, from all sources. */
const MAX_LINKS = 100;
/** Waits before a failed mail is resent, in milliseconds. After the last failure, the user must request a new mail. */
const MAIL_RETRIES_MS = [5_000, 30_000, 120_000];
/** Maximum number of sessions per user; the oldest is removed first. */
const MAX_SESSIONS = 50;

const usedUp: Refusal = { refused: "unauthenticated", detail: "This sign-in link is used up or too old." };

const { on, choose, machine } = createChart<
  AccountContext,
  SendLink | OpenSession | CloseSession | SetName | Woken | EffectEnded
>();

const opening = choose("session.open", { when: isLive, to: "known", act: openSession }, { act: refuse });

const accountMachine = machine({
  id: "account",
  context: ({ input }) => ({ email: input.id, userId: null, links: [], sessions: [], mails: [] }),
  initial: "unknown",
  on: {
    ...on("link.send", sendLink),
    ...on("woken", wake),
    ...on("effect.ended", endMail),
  },
  states: {
    unknown: { on: opening },
    known: { on: { ...opening, ...on("session.close", closeSession), ...on("name.set", setName) } },
  },
});

/** See the table above. */
export const accountActor = defineActor(accountRef, { machine: accountMachine, version: 1 });

function sendLink(event: Delivered<SendLink>, context: AccountContext): AccountContext {
  const { turn, tokenHash, sealedMail, source } = event;
  const refusal = tooMany(context.links, event);
  if (refusal !== null) {
    turn.reply(refusal);
    return context;
  }
  const expiresAtMs = turn.now + SIGN_IN_LINK_MS;
  signInLinks.put(turn, GLOBAL_PARTITION, tokenHash, { email: context.email, expiresAtMs });
  const links = [...context.links, { hash: tokenHash, expiresAtMs, source }];
  if (sealedMail === null) return expire({ ...context, links }, turn);
  const id = turn.newId("mail");
  turn.start(MAIL_EFFECT.request(id, sealedMail));
  const mails = [...context.mails, { id, sealedMail, attempts: 1, expiresAtMs }];
  return expire({ ...context, mails, links }, turn);
}

/** Returns why a source may not request another mail to this address now; null if it may. */
function tooMany(links: readonly Link[], { turn, source }: Delivered<SendLink>): Refusal | null {
  // Do not count a link that is valid for longer than the full lifetime. The service sent it while its clock was ahead.
  const live = links.filter(({ expiresAtMs }) => expiresAtMs > turn.now && expiresAtMs <= turn.now + SIGN_IN_LINK_MS);
  const own = live.filter((link) => link.source === source);
  const maxOwn = live.length < MANY_LINKS ? MAX_LINKS_OF_SOURCE : 1;
  const isBelowLimit = live.length < MAX_LINKS && own.length < maxOwn;
  const [first] = live.length < MAX_LINKS ? own : live;
  if (isBelowLimit || first === undefined) return null;
  return {
    refused: "too-many-requests",
    detail: "Too many sign-in emails were requested. Use the last one, or try again later.",
    retryAfterSeconds: Math.max(1, Math.ceil((first.expiresAtMs - turn.now) / 1_000)),
  };
}

/**
 * Removes a mail that was sent. For a failed mail, schedules a retry. If no retry is left, or the mail's link would
 * expire before the retry, removes the failed mail.
 */
function endMail({ turn, id, result }: Delivered<EffectEnded>, context: AccountContext): AccountContext {
  const mail = context.mails.find((open) => open.id === id);
  const others = context.mails.filter((open) => open.id !== id);
  const waitMs = MAIL_RETRIES_MS[(mail?.attempts ?? 0) - 1];
  const isOver = mail === undefined || result.ok || waitMs === undefined || turn.now + waitMs >= mail.expiresAtMs;
  if (isOver) return { ...context, mails: others };
  turn.wake(`mail ${id}`, turn.now + waitMs);
  return { ...context, mails: [...others, { ...mail, attempts: mail.attempts + 1 }] };
}

function wake({ turn, name }: Delivered<Woken>, context: AccountContext): AccountContext {
  const mail = context.mails.find(({ id }) => name === `mail ${id}`);
  if (mail === undefined) {
    const left = expire(context, turn);
    if (left.userId === null && left.links.length === 0 && left.mails.length === 0) turn.stop();
    return left;
  }
  turn.start(MAIL_EFFECT.request(mail.id, mail.sealedMail));
  return context;
}

function openSession({ turn, linkHash, sessionHash }: Delivered<OpenSession>, context: AccountContext): AccountContext {
  const { email } = context;
  signInLinks.remove(turn, GLOBAL_PARTITION, linkHash);
  const userId = context.userId ?? turn.newId("usr");
  if (context.userId === null) {
    users.put(turn, GLOBAL_PARTITION, userId, { userId, email, name: email.slice(0, email.indexOf("@")) });
  }
  const expiresAtMs = turn.now + SESSION_MS;
  const session = { sessionId: turn.newId("ses"), userId, email, expiresAtMs };
  sessions.put(turn, GLOBAL_PARTITION, sessionHash, session);
  const retained = [...context.sessions, { hash: sessionHash, expiresAtMs }];
  for (const { hash } of retained.slice(0, -MAX_SESSIONS)) sessions.remove(turn, GLOBAL_PARTITION, hash);
  turn.reply({ userId });
  const links = context.links.filter(({ hash }) => hash !== linkHash);
  return expire({ ...context, userId, links, sessions: retained.slice(-MAX_SESSIONS) }, turn);
}

function isLive({ linkHash, turn }: Delivered<OpenSession>, { links }: AccountContext): boolean {
  return links.some(({ hash, expiresAtMs }) => hash === linkHash && expiresAtMs > turn.now);
}

/**
 * Refuses a link that is not valid. Also removes the link if it has expired, so that it stays invalid if the clock is
 * set back.
 */
function refuse({ turn, linkHash }: Delivered<OpenSession>, context: AccountContext): AccountContext {
  turn.reply(usedUp);
  return context.links.some(({ hash }) => hash === linkHash) ? expire(context, turn) : context;
}

function closeSession({ turn, sessionHash }: Delivered<CloseSession>, context: AccountContext): AccountContext {
  sessions.remove(turn, GLOBAL_PARTITION, sessionHash);
  return { ...context, sessions: context.sessions.filter(({ hash }) => hash !== sessionHash) };
}

function setName({ turn, name }: Delivered<SetName>, { userId }: AccountContext): void {
  const user = userId === null ? undefined : users.get(turn, GLOBAL_PARTITION, userId);
  if (user !== undefined && user.name !== name) users.put(turn, GLOBAL_PARTITION, user.userId, { ...user, name });
}

/** Removes expired links, sessions and mails, and sets the wake-up for the next expiry. */
function expire(context: AccountContext, turn: Turn): AccountContext {
  const isLive = ({ expiresAtMs }: ExpiringHash) => expiresAtMs > turn.now;
  for (const { hash } of context.links.filter((link) => !isLive(link))) {
    signInLinks.remove(turn, GLOBAL_PARTITION, hash);
  }
  for (const { hash } of context.sessions.filter((session) => !isLive(session))) {
    sessions.remove(turn, GLOBAL_PARTITION, hash);
  }
  const links = context.links.filter(isLive);
  const retained = context.sessions.filter(isLive);
  const mails = context.mails.filter(({ expiresAtMs }) => expiresAtMs > turn.now);
  const next = Math.min(...[...links, ...retained].map(({ expiresAtMs }) => expiresAtMs));
  if (Number.isFinite(next)) turn.wake("expire", next);
  return { ...context, links, sessions: retained, mails };
}
