import t from "tap";
import { INVITE_MS, type InviteRow } from "../../../../actors/access/invites/invite.js";
import { inviteActor } from "../../../../actors/access/invites/invite.machine.js";
import type { InviteSent } from "../../../../actors/access/invites/invite.messages.js";
import { findInviteByLink, listPendingInvites } from "../../../../actors/access/invites/invite.queries.js";
import { invites } from "../../../../actors/access/invites/invite.table.js";
import { MAIL_EFFECT } from "../../../../actors/outbound/mail/mail.effects.js";
import { type ResourceRow, resources } from "../../../../actors/resources/resource.table.js";
import { findMember, putMember, removeMember } from "../../../../actors/workspaces/member.table.js";
import { address } from "../../../../runtime/cells/address.js";
import type { Message } from "../../../../runtime/turns/turn.js";
import { memoryRows, type Stepping, stepByHand, type TurnTaken } from "../../../support/turn.js";

const WORKSPACE = "ws_1";
const BOB = { userId: "usr_bob", email: "bob@example.com" };

/** Returns Bob's invite to an open workspace with the teams `team_1` and `team_2`. */
function invite(): Stepping {
  const stepping = stepByHand(inviteActor, address(WORKSPACE, "invite", BOB.email));
  for (const [kind, id] of [
    ["workspace", WORKSPACE],
    ["team", "team_1"],
    ["team", "team_2"],
  ] as const) {
    const row: ResourceRow = {
      id,
      kind,
      version: 1,
      workspaceId: WORKSPACE,
      teamId: null,
      address: id,
      fields: { name: id },
      hidden: {},
      added: {},
      createdAt: "",
      updatedAt: "",
    };
    resources.put(stepping.rows, WORKSPACE, [kind, id], row);
  }
  return stepping;
}

const send = (tokenHash: string, terms: Partial<InviteRow> = {}) =>
  ({
    type: "invite.send",
    by: "usr_ada",
    role: "member",
    teams: ["team_1"],
    tokenHash,
    sealedMail: "sealed",
    ...terms,
  }) as Message;
const resend = (inviteId: string, tokenHash: string) =>
  ({ type: "invite.resend", inviteId, tokenHash, sealedMail: "sealed" }) as Message;
const revoke = (inviteId: string) => ({ type: "invite.revoke", inviteId }) as Message;
const accept = (tokenHash: string, who = BOB) => ({ type: "invite.accept", tokenHash, ...who }) as Message;
const woken: Message = { type: "woken", name: "expire", dueMs: 0 } as Message;
const ended = (id: string, ok: boolean) =>
  ({
    type: "effect.ended",
    effect: MAIL_EFFECT.name,
    id,
    result: ok ? { ok, output: null } : { ok, error: "no" },
  }) as Message;

const toRow = (stepping: Stepping): InviteRow => {
  const { invite: row } = stepping.context<{ readonly invite: InviteRow | null }>();
  if (row === null) throw new Error("there is no invite");
  return row;
};

/** Steps an invite to each state. The token hash of its link is `link`. */
const states: Readonly<Record<string, () => Stepping>> = {
  none: invite,
  open: () => {
    const stepping = invite();
    stepping.take(send("link"));
    return stepping;
  },
  expired: () => {
    const stepping = invite();
    stepping.take(send("link"));
    stepping.now += INVITE_MS;
    stepping.take(woken);
    return stepping;
  },
  revoked: () => {
    const stepping = invite();
    stepping.take(send("link"));
    stepping.take(revoke(toRow(stepping).inviteId));
    return stepping;
  },
  accepted: () => {
    const stepping = invite();
    stepping.take(send("link"));
    stepping.take(accept("link"));
    // Bob then left the workspace, so that his address can be invited again.
    const member = findMember(stepping.rows, WORKSPACE, BOB.userId);
    if (member !== undefined) removeMember(stepping.rows, WORKSPACE, member);
    return stepping;
  },
};

type Ask = (stepping: Stepping) => Message;

/** Each message, by its name in {@link table}. */
const messages: Readonly<Record<string, Ask>> = {
  send: () => send("new"),
  "send to a member": (stepping) => {
    putMember(stepping.rows, WORKSPACE, { ...BOB, role: "member", teams: [], since: "" });
    return send("new");
  },
  resend: (stepping) => resend(toRow(stepping).inviteId, "new"),
  "resend of another": () => resend("inv_other", "new"),
  accept: () => accept("link"),
  "accept by someone else": () => accept("link", { userId: "usr_eve", email: "eve@example.com" }),
  "accept over another link": () => accept("other"),
  "accept 14 days later": (stepping) => {
    stepping.now += INVITE_MS;
    return accept("link");
  },
  revoke: (stepping) => revoke(toRow(stepping).inviteId),
  "revoke of another": () => revoke("inv_other"),
  "woken early": () => woken,
  "woken 14 days later": (stepping) => {
    stepping.now += INVITE_MS;
    return woken;
  },
  "mail sent": (stepping) => ended(toRow(stepping).mailId, true),
  "mail not sent": (stepping) => ended(toRow(stepping).mailId, false),
  "another mail ended": () => ended("mail_other", true),
};

/**
 * The expected next state and answer, by state and message. If a state has no entry for a message, the machine does not
 * handle the message there.
 */
const table: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  none: { send: "open invited", "send to a member": "none member" },
  open: {
    send: "open sent-again",
    "send to a member": "open member",
    resend: "open sent-again",
    "resend of another": "open not-found",
    accept: "accepted joined",
    "accept by someone else": "open forbidden",
    "accept over another link": "open not-found",
    "accept 14 days later": "expired conflict",
    revoke: "revoked",
    "revoke of another": "open not-found",
    "woken early": "open",
    "woken 14 days later": "expired",
    "mail sent": "open",
    "mail not sent": "open",
    "another mail ended": "open",
  },
  expired: {
    send: "open sent-again",
    "send to a member": "expired member",
    resend: "open sent-again",
    "resend of another": "expired not-found",
    accept: "expired conflict",
    "accept by someone else": "expired conflict",
    "accept over another link": "expired not-found",
    "accept 14 days later": "expired conflict",
    revoke: "revoked",
    "revoke of another": "expired not-found",
    "mail sent": "expired",
    "mail not sent": "expired",
    "another mail ended": "expired",
  },
  revoked: {
    send: "open invited",
    "send to a member": "revoked member",
    resend: "revoked conflict",
    "resend of another": "revoked not-found",
    accept: "revoked not-found",
    "accept by someone else": "revoked not-found",
    "accept over another link": "revoked not-found",
    "accept 14 days later": "revoked not-found",
    revoke: "revoked",
    "revoke of another": "revoked not-found",
  },
  accepted: {
    send: "open invited",
    "send to a member": "accepted member",
    resend: "accepted conflict",
    "resend of another": "accepted not-found",
    accept: "accepted conflict",
    "accept by someone else": "accepted conflict",
    "accept over another link": "accepted not-found",
    "accept 14 days later": "accepted conflict",
    revoke: "accepted conflict",
    "revoke of another": "accepted not-found",
  },
};

function told({ replied, answer }: TurnTaken): string {
  if (!replied) return "";
  if (answer === null) return " member";
  const { refused, outcome, since } = answer as { refused?: string; outcome?: string; since?: string };
  return ` ${refused ?? outcome ?? (since === undefined ? "" : "joined")}`;
}

t.test("in every state, each message does what the table says", async (t) => {
  for (const [state, make] of Object.entries(states)) {
    for (const [name, ask] of Object.entries(messages)) {
      const stepping = make();
      const isAboutNone =
        state === "none" && !name.startsWith("send") && /^(resend|revoke|mail (not )?sent)$/.test(name);
      const message = isAboutNone ? revoke("inv_none") : ask(stepping);
      const taken = stepping.take(message);
      const outcome = taken.taken ? `${stepping.value}${told(taken)}` : undefined;
      t.equal(outcome, table[state]?.[name], `${state}, ${name}`);
      if (!taken.taken) t.equal(stepping.value, state);
    }
  }
});

t.test("a refused message writes nothing, sends nothing and adds nobody", async (t) => {
  for (const [state, make] of Object.entries(states)) {
    for (const [name, ask] of Object.entries(messages)) {
      if (!/ (conflict|forbidden|not-found|member)$/.test(table[state]?.[name] ?? "") || name.includes("14 days"))
        continue;
      const stepping = make();
      const message = ask(stepping);
      const before = JSON.stringify(stepping.rows.range({ prefix: [] }));
      t.same(stepping.take(message).intents, [], `${state}, ${name}`);
      t.equal(JSON.stringify(stepping.rows.range({ prefix: [] })), before);
    }
  }
});

t.test("an invite is found by its link's hash, lasts 14 days, and is mailed once", async (t) => {
  const stepping = invite();
  const taken = stepping.take(send("link"));
  t.match(taken.started, [{ name: MAIL_EFFECT.name, id: (taken.answer as InviteSent).mailId, input: "sealed" }]);
  t.same(taken.wakes, [{ name: "expire", dueMs: stepping.now + 14 * 24 * 60 * 60 * 1_000 }]);
  t.equal(findInviteByLink(stepping.rows, "link")?.invite.inviteId, (taken.answer as InviteSent).inviteId);
});

t.test("sending again keeps the invite, ends the old link and its mail, and begins 14 new days", async (t) => {
  for (const again of [
    (row: InviteRow) => resend(row.inviteId, "new"),
    () => send("new", { role: "admin", teams: ["team_2"], invitedBy: "usr_ada" }),
  ]) {
    const stepping = states.open?.() ?? invite();
    const first = toRow(stepping);
    stepping.now += 60_000;
    const taken = stepping.take(again(first));
    const row = toRow(stepping);
    t.same([row.inviteId, row.createdAtMs, row.sentAtMs], [first.inviteId, first.createdAtMs, stepping.now]);
    t.same(taken.cancelledEffects, [first.mailId]);
    t.same(taken.wakes, [{ name: "expire", dueMs: stepping.now + INVITE_MS }]);
    t.equal(findInviteByLink(stepping.rows, "link"), undefined);
    t.ok(findInviteByLink(stepping.rows, "new"));
  }
});

t.test("an invite request replaces role and teams, a resend keeps them", async (t) => {
  const stepping = states.expired?.() ?? invite();
  stepping.take(resend(toRow(stepping).inviteId, "again"));
  t.match(toRow(stepping), { role: "member", teams: ["team_1"], invitedBy: "usr_ada", state: "open" });
  stepping.take({ ...send("more", { role: "admin", teams: ["team_2"] }), by: "usr_eve" } as Message);
  t.match(toRow(stepping), { role: "admin", teams: ["team_2"], invitedBy: "usr_eve" });
});

t.test("an invite after a revoked or accepted one is new, and replaces the old one", async (t) => {
  for (const state of ["revoked", "accepted"]) {
    const stepping = states[state]?.() ?? invite();
    const old = toRow(stepping);
    stepping.take(send("new"));
    t.not(toRow(stepping).inviteId, old.inviteId);
    t.equal(invites.get(stepping.rows, WORKSPACE, old.inviteId), undefined);
    t.equal(findInviteByLink(stepping.rows, "link"), undefined);
    t.match(stepping.take(revoke(old.inviteId)).answer, { refused: "not-found" });
  }
});

t.test("a revoked invite is found by no link, is not mailed any more, and does not wake again", async (t) => {
  const stepping = states.open?.() ?? invite();
  const { inviteId, mailId } = toRow(stepping);
  const taken = stepping.take(revoke(inviteId));
  t.equal(findInviteByLink(stepping.rows, "link"), undefined);
  t.same([taken.cancelledEffects, taken.cancelledWakes], [[mailId], ["expire"]]);
});

t.test("accepting makes a member with the role, on the teams that still exist", async (t) => {
  const stepping = invite();
  stepping.take(send("link", { role: "admin", teams: ["team_1", "team_2", "team_gone"] }));
  const taken = stepping.take(accept("link"));
  t.match(taken.answer, { ...BOB, role: "admin", teams: ["team_1", "team_2"] });
  t.same(findMember(stepping.rows, WORKSPACE, BOB.userId), taken.answer);
  t.same(taken.cancelledWakes, ["expire"]);
});

t.test("an existing member keeps the role and is added to the teams", async (t) => {
  const stepping = invite();
  stepping.take(send("link", { role: "admin", teams: ["team_2"] }));
  putMember(stepping.rows, WORKSPACE, { ...BOB, role: "member", teams: ["team_1"], since: "before" });
  const taken = stepping.take(accept("link"));
  t.same(taken.answer, { ...BOB, role: "member", teams: ["team_1", "team_2"], since: "before" });
});

t.test("a closed workspace accepts nobody", async (t) => {
  const stepping = states.open?.() ?? invite();
  resources.remove(stepping.rows, WORKSPACE, "workspace", WORKSPACE);
  t.match(stepping.take(accept("link")).answer, { refused: "not-found" });
  t.equal(findMember(stepping.rows, WORKSPACE, BOB.userId), undefined);
  t.equal(findInviteByLink(stepping.rows, "link"), undefined);
});

t.test("only open invites are pending, and the result of the mail is recorded", async (t) => {
  for (const [state, make] of Object.entries(states)) {
    const stepping = make();
    const pending = listPendingInvites(stepping.rows, WORKSPACE, { limit: 10, nowMs: stepping.now });
    t.equal(pending.length, state === "open" ? 1 : 0, state);
  }
  const stepping = states.open?.() ?? invite();
  t.equal(toRow(stepping).mail, "sending");
  stepping.take(ended(toRow(stepping).mailId, false));
  t.equal(listPendingInvites(stepping.rows, WORKSPACE, { limit: 10, nowMs: stepping.now })[0]?.mail, "not-sent");
  stepping.take(ended(toRow(stepping).mailId, true));
  t.equal(toRow(stepping).mail, "sent");
});

t.test("a page of pending invites is not short for those whose time is over", async (t) => {
  const rows = memoryRows();
  const [open] = Object.values(states)
    .map((make) => make())
    .filter(({ value }) => value === "open");
  if (open === undefined) throw new Error("there is no open invite");
  const one = toRow(open);
  for (let n = 1; n <= 6; n++) {
    const expiresAtMs = open.now + (n === 4 || n === 5 ? 0 : 1);
    invites.insert(rows, WORKSPACE, { ...one, inviteId: `inv_${n}`, email: `${n}@example.com`, expiresAtMs });
  }
  const page = (before?: string) =>
    listPendingInvites(rows, WORKSPACE, { limit: 2, nowMs: open.now, ...(before && { before }) });
  t.same(
    page().map(({ inviteId }) => inviteId),
    ["inv_6", "inv_3"],
  );
  t.same(
    page("inv_3").map(({ inviteId }) => inviteId),
    ["inv_2", "inv_1"],
  );
});

t.test("an invite that is over is forgotten with its link, an open one is not", async (t) => {
  const forget: Message = { type: "invite.forget" };
  const over: Readonly<Record<string, (stepping: Stepping) => void>> = {
    expired: (stepping) => {
      stepping.now += INVITE_MS;
      stepping.take(woken);
    },
    accepted: (stepping) => void stepping.take(accept("first")),
    revoked: (stepping) => void stepping.take(revoke(toRow(stepping).inviteId)),
  };
  for (const [state, end] of Object.entries(over)) {
    const stepping = invite();
    stepping.take(send("first"));
    t.equal(stepping.take(forget).taken, false, "open");
    end(stepping);
    t.equal(stepping.value, state);
    t.ok(stepping.take(forget).stopped, state);
    t.same(invites.list(stepping.rows, WORKSPACE), [], state);
    t.equal(findInviteByLink(stepping.rows, "first"), undefined, state);
    if (state === "accepted") continue;
    t.match(stepping.take(send("again")).answer, { outcome: "invited" }, "the address can be invited anew");
  }
});
