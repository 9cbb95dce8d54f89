import t from "tap";
import { CONFIRMATION_EFFECT, type Confirmation } from "../../../actors/code-host/confirmation.effects.js";
import { type CodeHostConnection, MAX_CONNECTIONS } from "../../../actors/code-host/connection.js";
import { codeHostConnectionActor } from "../../../actors/code-host/connection.machine.js";
import { codeHostConnectionRef } from "../../../actors/code-host/connection.messages.js";
import { findInstallationOwner, listCodeHostConnections } from "../../../actors/code-host/connection.queries.js";
import { codeHostConnections } from "../../../actors/code-host/connection.table.js";
import { INSTALLATION_CHECK_INTERVAL_MS } from "../../../actors/code-host/connection.transitions.js";
import type { InstallationKey } from "../../../actors/code-host/installation.js";
import {
  INSTALLATION_CHECK_EFFECT,
  type InstallationStatus,
} from "../../../actors/code-host/installation-check.effects.js";
import {
  installationClaimsActor,
  installationClaimsRef,
} from "../../../actors/code-host/installation-claims.machine.js";
import { type ResourceRow, resources } from "../../../actors/resources/resource.table.js";
import { putMember } from "../../../actors/workspaces/member.table.js";
import type { DirectedWriting } from "../../../runtime/directories/directory.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { GLOBAL_PARTITION } from "../../../storage/keys.js";
import { memoryRows, type Stepping, stepByHand, type TurnTaken } from "../../support/turn.js";

const WORKSPACE = "ws_1";
const ELSEWHERE = "ws_2";
const NAME = { host: "code.example", installationId: 7 };
const KNOWN_MS = 1_000_000;

/**
 * Returns a connection that the test steps by hand. Each step also delivers the messages between the connection and the
 * actor of installation claims.
 */
function settling(workspaceId: string, name: InstallationKey, rows: DirectedWriting): Stepping {
  const connected = stepByHand(codeHostConnectionActor, codeHostConnectionRef(workspaceId, name), { rows });
  const keeper = stepByHand(installationClaimsActor, installationClaimsRef, { rows });
  const take = (message: Message): TurnTaken => {
    const first = connected.take(message);
    const turns = [first];
    for (const { sent } of turns) {
      for (const claim of sent) {
        keeper.now = connected.now;
        for (const answer of keeper.take(claim.message).sent) turns.push(connected.take(answer.message));
      }
    }
    const changes = turns.flatMap((turn) => turn.changes);
    const wakes = turns.flatMap((turn) => turn.wakes);
    const started = turns.flatMap((turn) => turn.started);
    return { ...first, changes, wakes, started, stopped: turns.at(-1)?.stopped ?? false };
  };
  return {
    get now() {
      return connected.now;
    },
    set now(nowMs) {
      connected.now = nowMs;
    },
    get value() {
      return connected.value;
    },
    rows,
    take,
    context: <Context>() => connected.context<Context>(),
    restore: (value, context) => connected.restore(value, context),
  };
}

/** Returns the connection of installation 7 to an open workspace with Ada as admin and Bob as member. */
function connection(): Stepping {
  const stepping = settling(WORKSPACE, NAME, memoryRows());
  const row: ResourceRow = {
    id: WORKSPACE,
    kind: "workspace",
    version: 1,
    workspaceId: WORKSPACE,
    teamId: null,
    address: "acme",
    fields: { name: "Acme" },
    hidden: {},
    added: {},
    createdAt: "",
    updatedAt: "",
  };
  resources.put(stepping.rows, WORKSPACE, ["workspace", WORKSPACE], row);
  for (const [userId, role] of [
    ["usr_ada", "admin"],
    ["usr_bob", "member"],
  ] as const) {
    putMember(stepping.rows, WORKSPACE, { userId, email: `${userId}@example.com`, role, teams: [], since: "" });
  }
  return stepping;
}

const confirm = (attemptId = "attempt_1", by = "usr_ada") =>
  ({ type: "installation.confirm", attemptId, by, sealedSignIn: "sealed" }) as Message;
const ended = (output: Confirmation, id = "attempt_1") =>
  ({ type: "effect.ended", effect: CONFIRMATION_EFFECT.name, id, result: { ok: true, output } }) as Message;
const crashed = {
  type: "effect.ended",
  effect: CONFIRMATION_EFFECT.name,
  id: "attempt_1",
  result: { ok: false, error: "canary" },
} as Message;
const changed = (change: string, atMs = KNOWN_MS) => ({ type: "installation.changed", change, atMs }) as Message;
const looked = (output: InstallationStatus) =>
  ({
    type: "effect.ended",
    effect: INSTALLATION_CHECK_EFFECT.name,
    id: "look_1",
    result: { ok: true, output },
  }) as Message;
const there = (isSuspended: boolean, more: { login?: string; updatedAtMs?: number } = {}): InstallationStatus => {
  const { login = "acme-inc", updatedAtMs = KNOWN_MS } = more;
  return { seen: "there", installation: { account: { login, kind: "organization" }, isSuspended, updatedAtMs } };
};
const woken = { type: "woken", name: "look", dueMs: 0 } as Message;
const disconnect = (by: string) => ({ type: "installation.disconnect", by }) as Message;
const release = { type: "installation.release" } as Message;
const theirs = (isSuspended = false): Confirmation => ({
  confirmed: "yes",
  installation: { account: { login: "acme-inc", kind: "organization" }, isSuspended, updatedAtMs: KNOWN_MS },
});

/** Steps a connection to each state. In each, Ada's confirmation is still in progress. */
const states: Readonly<Record<string, () => Stepping>> = {
  absent: () => {
    const stepping = connection();
    stepping.take(confirm());
    return stepping;
  },
  connected: () => inState(theirs()),
  suspended: () => inState(theirs(true)),
  deleted: () => {
    const stepping = inState(theirs());
    stepping.take(changed("deleted"));
    return stepping;
  },
};

function inState(confirmation: Confirmation): Stepping {
  const stepping = connection();
  stepping.take(confirm("attempt_0"));
  stepping.take(ended(confirmation, "attempt_0"));
  stepping.take(confirm());
  return stepping;
}

/** Each message, by its name in {@link table}. */
const messages: Readonly<Record<string, (stepping: Stepping) => Message>> = {
  confirm: () => confirm("attempt_2"),
  "the sixth confirm": (stepping) => {
    for (const n of [2, 3, 4, 5]) stepping.take(confirm(`attempt_${n}`));
    return confirm("attempt_6");
  },
  theirs: () => ended(theirs()),
  "theirs, suspended": () => ended(theirs(true)),
  "theirs, of another workspace": ({ rows }) => {
    if (listCodeHostConnections(rows, WORKSPACE).every(({ state }) => state === "deleted")) {
      rows.put([GLOBAL_PARTITION, "row", "code-host-installation", NAME.host, NAME.installationId], {
        workspaceId: ELSEWHERE,
      });
    }
    return ended(theirs());
  },
  "theirs, of who leads no more": ({ rows }) => {
    putMember(rows, WORKSPACE, { userId: "usr_ada", email: "a@example.com", role: "member", teams: [], since: "" });
    return ended(theirs());
  },
  "theirs, of a closed workspace": ({ rows }) => {
    resources.remove(rows, WORKSPACE, "workspace", WORKSPACE);
    return ended(theirs());
  },
  "not theirs": () => ended({ confirmed: "no" }),
  "not confirmed": () => ended({ confirmed: "unknown" }),
  "refused there": () => ended({ confirmed: "refused", why: "code.example answered with 503." }),
  "never asked": () => crashed,
  suspended: () => changed("suspended"),
  "suspended before": () => changed("suspended", KNOWN_MS - 1),
  unsuspended: () => changed("unsuspended"),
  "unsuspended before": () => changed("unsuspended", KNOWN_MS - 1),
  deleted: () => changed("deleted"),
  "deleted before": () => changed("deleted", KNOWN_MS - 1),
  "disconnect by an admin": () => disconnect("usr_ada"),
  "disconnect by a member": () => disconnect("usr_bob"),
  "disconnect by a stranger": () => disconnect("usr_eve"),
  release: () => release,
  "seen working": () => looked(there(false)),
  "seen suspended": () => looked(there(true)),
  "seen as it was before": () => looked(there(true, { updatedAtMs: KNOWN_MS - 1 })),
  "seen gone": () => looked({ seen: "gone" }),
  "not seen": () => looked({ seen: "unknown" }),
  "not looked at": () =>
    ({
      type: "effect.ended",
      effect: INSTALLATION_CHECK_EFFECT.name,
      id: "look_1",
      result: { ok: false, error: "no" },
    }) as Message,
  woken: () => woken,
};

/** Messages that change nothing while no installation is connected. */
const unseen = {
  "seen working": "same",
  "seen suspended": "same",
  "seen as it was before": "same",
  "seen gone": "same",
  "not seen": "same",
  "not looked at": "same",
  woken: "same",
};

const confirmations = (state: string, other: string) => ({
  confirm: `${state} null`,
  "the sixth confirm": `${state} too-many-requests`,
  theirs: "connected told",
  "theirs, suspended": "suspended told",
  "theirs, of another workspace": other,
  "theirs, of who leads no more": `${state} told forbidden`,
  "theirs, of a closed workspace": `${state} told forbidden`,
  "not theirs": `${state} told forbidden`,
  "not confirmed": `${state} told forbidden`,
  "refused there": `${state} told refused-upstream`,
  "never asked": `${state} told refused-upstream`,
});
const connectedOnes = {
  "disconnect by an admin": "absent null",
  "disconnect by a member": "same forbidden",
  "disconnect by a stranger": "same forbidden",
  release: "absent null",
};

/**
 * The expected next state (`same` if it does not change), by state and message. After it comes the answer to the
 * sender, or the outcome that a pending confirmation attempt gets.
 */
const table: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  absent: {
    ...unseen,
    ...confirmations("absent", "absent told conflict"),
    suspended: "absent false",
    "suspended before": "absent false",
    unsuspended: "absent false",
    "unsuspended before": "absent false",
    deleted: "absent false",
    "deleted before": "absent false",
    "disconnect by an admin": "absent not-found",
    "disconnect by a member": "absent not-found",
    "disconnect by a stranger": "absent not-found",
    release: "absent null",
  },
  connected: {
    ...confirmations("connected", "connected told"),
    ...unseen,
    "seen suspended": "suspended",
    "seen gone": "deleted",
    ...connectedOnes,
    suspended: "suspended true",
    "suspended before": "connected false",
    unsuspended: "connected false",
    "unsuspended before": "connected false",
    deleted: "deleted true",
    "deleted before": "deleted true",
  },
  suspended: {
    ...confirmations("suspended", "connected told"),
    ...unseen,
    "seen working": "connected",
    "seen gone": "deleted",
    ...connectedOnes,
    suspended: "suspended false",
    "suspended before": "suspended false",
    unsuspended: "connected true",
    "unsuspended before": "suspended false",
    deleted: "deleted true",
    "deleted before": "deleted true",
  },
  deleted: {
    ...confirmations("deleted", "deleted told conflict"),
    ...unseen,
    ...connectedOnes,
    suspended: "deleted false",
    "suspended before": "deleted false",
    unsuspended: "deleted false",
    "unsuspended before": "deleted false",
    deleted: "deleted false",
    "deleted before": "deleted false",
  },
};

function toRow(more: Partial<CodeHostConnection>): CodeHostConnection {
  return {
    ...NAME,
    account: { login: "acme-inc", kind: "organization" },
    state: "connected",
    connectedBy: "usr_eve",
    connectedAtMs: 0,
    asOfMs: 0,
    ...more,
  };
}

/**
 * Returns the answer to the sender, or the outcome sent to the pending confirmation attempt. Returns an empty text if
 * nothing was sent.
 */
function toTold({ replied, answer, changes }: TurnTaken): string {
  const attempt = changes.find(({ topic }) => topic.startsWith("code-host-attempt/"));
  const slug = (value: unknown) => (value as { readonly refused?: string } | null)?.refused;
  if (attempt !== undefined) return ["told", slug(attempt.data)].filter((part) => part !== undefined).join(" ");
  return replied ? (slug(answer) ?? String(answer)) : "";
}

t.test("in every state, each message does what the table says", async (t) => {
  for (const [state, make] of Object.entries(states)) {
    t.same(Object.keys(table[state] ?? {}).sort(), Object.keys(messages).sort(), `${state} has every message`);
    for (const [name, ask] of Object.entries(messages)) {
      const stepping = make();
      t.equal(stepping.value, state);
      const taken = stepping.take(ask(stepping));
      const wanted = table[state]?.[name]?.replace("same", state);
      t.equal(`${stepping.value} ${toTold(taken)}`.trimEnd(), wanted, `${state}, ${name}`);
    }
  }
});

t.test("the row, and whose the installation is, go with the state", async (t) => {
  for (const [state, make] of Object.entries(states)) {
    for (const [name, ask] of Object.entries(messages)) {
      const stepping = make();
      stepping.take(ask(stepping));
      const [row] = listCodeHostConnections(stepping.rows, WORKSPACE);
      t.equal(row?.state ?? "absent", stepping.value, `${state}, ${name}`);
      const isOurs = stepping.value === "connected" || stepping.value === "suspended";
      const owner = findInstallationOwner(stepping.rows, NAME);
      t.ok(isOurs ? owner === WORKSPACE : owner !== WORKSPACE, `${state}, ${name}: it is ${owner}'s`);
    }
  }
});

t.test("a confirmation is asked for under its attempt, with what the person came back with sealed", async (t) => {
  const taken = connection().take(confirm());
  t.same(taken.started, [{ name: CONFIRMATION_EFFECT.name, id: "attempt_1", input: "sealed" }]);
});

t.test("an actor without a connection and without a confirmation in progress ends", async (t) => {
  const stepping = connection();
  t.ok(stepping.take(changed("deleted")).stopped, "a change of what is not connected");
  stepping.take(confirm("attempt_1"));
  stepping.take(confirm("attempt_2"));
  t.notOk(stepping.take(ended({ confirmed: "no" }, "attempt_1")).stopped, "another is under way");
  t.ok(stepping.take(ended({ confirmed: "no" }, "attempt_2")).stopped);
  stepping.take(confirm("attempt_3"));
  stepping.take(ended(theirs(), "attempt_3"));
  stepping.take(confirm("attempt_4"));
  t.notOk(stepping.take(disconnect("usr_ada")).stopped, "one is under way while it is disconnected");
  t.equal(toTold(stepping.take(ended(theirs(), "attempt_4"))), "told");
  t.ok(stepping.take(release).stopped);
});

t.test("the person who connected it first stays recorded, until it is deleted and connected again", async (t) => {
  const stepping = inState(theirs());
  putMember(stepping.rows, WORKSPACE, {
    userId: "usr_bob",
    email: "b@example.com",
    role: "owner",
    teams: [],
    since: "",
  });
  const by = () => listCodeHostConnections(stepping.rows, WORKSPACE)[0]?.connectedBy;
  stepping.take(confirm("attempt_2", "usr_bob"));
  stepping.take(ended(theirs(), "attempt_2"));
  t.equal(by(), "usr_ada");
  stepping.take(changed("deleted"));
  stepping.take(confirm("attempt_3", "usr_bob"));
  stepping.take(ended(theirs(), "attempt_3"));
  t.equal(by(), "usr_bob");
});

t.test("a workspace connects to a limited number of installations, and may confirm those again", async (t) => {
  const stepping = inState(theirs());
  for (let n = 1; n < MAX_CONNECTIONS; n++) {
    const other = toRow({ installationId: 100 + n });
    stepping.rows.put(codeHostConnections.key(WORKSPACE, other.host, other.installationId), other);
  }
  t.equal(toTold(stepping.take(ended(theirs()))), "told");
  const name = { ...NAME, installationId: 8 };
  const another = settling(WORKSPACE, name, stepping.rows);
  another.take(confirm());
  t.equal(toTold(another.take(ended(theirs()))), "told conflict");
});

t.test("a connected installation is checked every six hours", async (t) => {
  const stepping = connection();
  stepping.take(confirm());
  const connected = stepping.take(ended(theirs()));
  t.same(connected.wakes, [{ name: "look", dueMs: stepping.now + INSTALLATION_CHECK_INTERVAL_MS }]);
  t.equal(INSTALLATION_CHECK_INTERVAL_MS, 6 * 60 * 60 * 1_000);
  stepping.now += INSTALLATION_CHECK_INTERVAL_MS;
  const looking = stepping.take(woken);
  t.match(looking.started, [{ name: INSTALLATION_CHECK_EFFECT.name, id: /^look_/, input: NAME }]);
  t.same(looking.wakes, [{ name: "look", dueMs: stepping.now + INSTALLATION_CHECK_INTERVAL_MS }]);
  t.same(stepping.take(looked(there(false))).changes, [], "what is as it was is not told");
  t.same(stepping.take(looked({ seen: "gone" })).cancelledWakes, ["look"]);
  t.same(stepping.take(woken).started, []);
  const other = inState(theirs());
  t.same(other.take(disconnect("usr_ada")).cancelledWakes, ["look"]);
});

t.test("an account that is renamed at the code host is renamed here", async (t) => {
  const stepping = inState(theirs());
  stepping.take(looked(there(false, { login: "acme-group" })));
  t.match(listCodeHostConnections(stepping.rows, WORKSPACE), [
    { state: "connected", account: { login: "acme-group" } },
  ]);
});
