import t from "tap";
import { CONFIRMATION_EFFECT, type Confirmation } from "../../../actors/code-host/confirmation.effects.js";
import { codeHostConnectionActor } from "../../../actors/code-host/connection.machine.js";
import { codeHostConnectionRef, type InstallationClaimed } from "../../../actors/code-host/connection.messages.js";
import { findInstallationOwner, listCodeHostConnections } from "../../../actors/code-host/connection.queries.js";
import { INSTALLATION_CHECK_EFFECT } from "../../../actors/code-host/installation-check.effects.js";
import { installationClaimsActor } from "../../../actors/code-host/installation-claims.machine.js";
import { resources } from "../../../actors/resources/resource.table.js";
import type { AskHolder } from "../../../actors/tables/claims.js";
import { putMember } from "../../../actors/workspaces/member.table.js";
import type { DirectedWriting } from "../../../runtime/directories/directory.js";
import type { EffectEnded, Message } from "../../../runtime/turns/turn.js";
import { GLOBAL_PARTITION, rowSpace } from "../../../storage/keys.js";
import type { Change } from "../../../storage/store.js";
import { Harness } from "../../support/harness.js";
import { plainLane } from "../../support/plain-effect.js";
import { memoryRows, type Stepping, stepByHand, type TurnTaken } from "../../support/turn.js";

const OURS = "ws_1";
const THEIRS = "ws_2";
const FIVE_MINUTES_MS = 5 * 60_000;
const installation = (installationId = 7) => ({ host: "code.example", installationId });

const yes: Confirmation = {
  confirmed: "yes",
  installation: { account: { login: "acme-inc", kind: "organization" }, isSuspended: false, updatedAtMs: 1 },
};

/** Writes an open workspace whose admin is Ada. */
function putWorkspace(rows: DirectedWriting, workspaceId: string): void {
  resources.put(rows, workspaceId, ["workspace", workspaceId], {
    id: workspaceId,
    kind: "workspace",
    version: 1,
    workspaceId,
    teamId: null,
    address: workspaceId,
    fields: {},
    hidden: {},
    added: {},
    createdAt: "",
    updatedAt: "",
  });
  const ada = { userId: "usr_ada", email: "ada@example.com", role: "admin", teams: [], since: "" } as const;
  putMember(rows, workspaceId, ada);
}

/** Starts a service with two workspaces. The service's code host confirms every request. */
async function twoWorkspaces(limits: { readonly turnsPerBatch?: number } = {}): Promise<Harness> {
  const effects = [
    CONFIRMATION_EFFECT.implement(plainLane(16), async () => yes),
    INSTALLATION_CHECK_EFFECT.implement(plainLane(16), async () => ({ seen: "unknown" })),
  ];
  const catalogue = { actors: [codeHostConnectionActor, installationClaimsActor], effects };
  const harness = new Harness({ catalogue, limits });
  const rows = memoryRows();
  for (const workspaceId of [OURS, THEIRS]) putWorkspace(rows, workspaceId);
  // With this many partitions, a start finds due wake-ups before undelivered messages.
  for (let n = 0; n < 300; n++) rows.put([`other_${n}`, rowSpace], n);
  const filled = harness.disk
    .open()
    .commit(rows.range({ prefix: [] }).map(({ key, value }): Change => ({ op: "put", key, value })));
  await harness.advance();
  await filled;
  return harness;
}

function connect({ runtime }: Harness, workspaceId: string, attemptId: string, installationId = 7): void {
  const to = codeHostConnectionRef(workspaceId, installation(installationId));
  const asked = runtime.ask(to, { type: "installation.confirm", attemptId, by: "usr_ada", sealedSignIn: "sealed" });
  asked.catch(() => undefined);
}

/** Returns the workspaces that an installation is connected to. */
function listConnected({ durable }: Harness, installationId = 7): string[] {
  return [OURS, THEIRS].filter((workspaceId) =>
    listCodeHostConnections(durable, workspaceId).some(
      (one) => one.installationId === installationId && one.state === "connected",
    ),
  );
}

/** Returns the invariants that the harness violates. Call it only when no work is in progress. */
function complaints(harness: Harness): string[] {
  const [row] = harness.durable.range<object>({ prefix: [GLOBAL_PARTITION, rowSpace, "code-host-installation"] });
  const connected = listConnected(harness);
  const owner = findInstallationOwner(harness.durable, installation());
  return [
    ...(connected.length > 1 ? ["it is connected to both"] : []),
    ...(owner === connected[0] ? [] : [`it is ${owner}'s, and connected to ${connected[0]}`]),
    ...(row !== undefined && "pending" in row.value ? ["the claim is pending still"] : []),
    ...harness.logged.map(({ message }) => message),
  ];
}

t.test("killed between any two steps, an installation is one workspace's, or free", async (t) => {
  let kills = 0;
  for (const when of ["before", "after"] as const) {
    for (const downMs of [0, FIVE_MINUTES_MS]) {
      for (let first = 1, goesOn = true; goesOn; first++) {
        for (let second = 1; second <= 6 && goesOn; second++) {
          const harness = await twoWorkspaces({ turnsPerBatch: 1 });
          const at = `${when} commits ${first} and ${second}, down for ${downMs} ms`;
          for (const [life, commit] of [first, second].entries()) {
            harness.killAt = { commit: harness.batches.length + commit, when };
            await harness.start();
            if (life === 0) connect(harness, OURS, "attempt_1");
            connect(harness, THEIRS, `attempt_${life + 2}`);
            await harness.advance(life === 0 ? 2_000 : FIVE_MINUTES_MS);
            if (life === 0) goesOn = harness.batches.length >= commit;
            harness.crash();
            await harness.advance(downMs);
          }
          if (!goesOn) break;
          kills += 2;
          harness.killAt = null;
          await harness.start();
          await harness.advance(FIVE_MINUTES_MS);
          t.same(complaints(harness), [], at);
          connect(harness, THEIRS, "attempt_9");
          await harness.advance(FIVE_MINUTES_MS);
          t.same(complaints(harness), [], at);
          t.equal(listConnected(harness).length, 1, at);
        }
      }
    }
  }
  t.ok(kills > 100, `${kills} kills`);
});

t.test("of two workspaces that connect one installation at once, a hundred times, one has it", async (t) => {
  const harness = await twoWorkspaces();
  await harness.start();
  for (let number = 1; number <= 100; number++) {
    for (const workspaceId of [OURS, THEIRS]) connect(harness, workspaceId, `attempt_${number}`, number);
  }
  await harness.advance(FIVE_MINUTES_MS);
  for (let number = 1; number <= 100; number++) {
    const connected = listConnected(harness, number);
    const isOne =
      connected.length === 1 && findInstallationOwner(harness.durable, installation(number)) === connected[0];
    if (!isOne) t.fail(`${number}: ${connected.join()}`);
  }
  t.same(harness.logged, []);
});

/**
 * Returns a connection that is not joined to the actor of installation claims. So tests can read the messages that the
 * connection sends to that actor.
 */
function alone(): Stepping {
  const rows = memoryRows();
  putWorkspace(rows, OURS);
  return stepByHand(codeHostConnectionActor, codeHostConnectionRef(OURS, installation()), { rows });
}

const confirm = (attemptId: string) =>
  ({ type: "installation.confirm", attemptId, by: "usr_ada", sealedSignIn: "sealed" }) as Message;
const ended = (id: string): EffectEnded => ({
  type: "effect.ended",
  effect: CONFIRMATION_EFFECT.name,
  id,
  result: { ok: true, output: yes },
});
const answer = (key: string, isGranted: boolean): InstallationClaimed => ({ type: "name.claimed", key, isGranted });
const ask: AskHolder = { type: "name.ask", name: ["code.example", 7], untilMs: 5 };
const release = { type: "installation.release" } as Message;

const sent = (taken: TurnTaken) => taken.sent.map(({ message }) => message.type);
const toKey = ({ sent: all }: TurnTaken) =>
  all.flatMap(({ message }) => ("key" in message ? [String(message.key)] : [])).at(-1) ?? "";

/** Returns a connection that waits for the answer to its claim for `attempt_1`, and the key of that claim. */
function claiming() {
  const stepping = alone();
  stepping.take(confirm("attempt_1"));
  return { stepping, key: toKey(stepping.take(ended("attempt_1"))) };
}

t.test("an installation is claimed before it is connected, and confirmed when it is", async (t) => {
  const { stepping, key } = claiming();
  t.equal(stepping.value, "absent");
  const taken = stepping.take(answer(key, true));
  t.same([stepping.value, sent(taken)], ["connected", ["name.confirm"]]);
  t.match(taken.changes, [{ topic: "code-host-attempt/attempt_1" }, {}]);
});

t.test("an installation of another workspace is refused, and the actor ends", async (t) => {
  const { stepping, key } = claiming();
  const taken = stepping.take(answer(key, false));
  t.same([stepping.value, sent(taken), taken.stopped], ["absent", [], true]);
  t.match(taken.changes, [{ data: { refused: "conflict", detail: /connected to another workspace/ } }]);
});

t.test("a grant to a person who may no longer connect is released", async (t) => {
  const { stepping, key } = claiming();
  resources.remove(stepping.rows, OURS, "workspace", OURS);
  const taken = stepping.take(answer(key, true));
  t.same([stepping.value, sent(taken), taken.stopped], ["absent", ["name.release"], true]);
  t.match(taken.changes, [{ data: { refused: "forbidden" } }]);
});

t.test("a connection confirms its claim when asked, and lets an unused claim lapse", async (t) => {
  const { stepping, key } = claiming();
  t.match(stepping.take(ask).sent, [{ message: { type: "name.lapse", untilMs: 5 } }]);
  stepping.take(answer(key, true));
  t.match(stepping.take(ask).sent, [{ message: { type: "name.confirm", workspaceId: OURS } }]);
  const none = alone().take(ask);
  t.same([sent(none), none.stopped], [["name.lapse"], true]);
});

t.test("a release voids earlier grants: waiting attempts claim again", async (t) => {
  const { stepping, key } = claiming();
  stepping.take(confirm("attempt_2"));
  const second = toKey(stepping.take(ended("attempt_2")));
  stepping.take(answer(key, true));
  const given = stepping.take(release);
  t.same([stepping.value, sent(given)], ["absent", ["name.release", "name.claim"]]);
  t.same(sent(stepping.take(answer(second, true))), [], "the old answer changes nothing");
  t.equal(stepping.value, "absent");
  t.same(sent(stepping.take(answer(toKey(given), true))), ["name.confirm"]);
  t.equal(stepping.value, "connected");
});
