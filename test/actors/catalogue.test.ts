import t from "tap";
import type { InviteRow } from "../../actors/access/invites/invite.js";
import { inviteRef } from "../../actors/access/invites/invite.messages.js";
import { invites } from "../../actors/access/invites/invite.table.js";
import { createActorTypes, createDirectoryCatalogue, createKinds } from "../../actors/catalogue.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { MAIL_EFFECT } from "../../actors/outbound/mail/mail.effects.js";
import { withReservedHashes } from "../../actors/resources/reserve-hashes.js";
import { type ResourceRow, resources } from "../../actors/resources/resource.table.js";
import { openWorkspace } from "../../actors/workspaces/open-workspace.js";
import { findWorkspaceBySlug } from "../../actors/workspaces/slug-claims.machine.js";
import { workspaceRef } from "../../actors/workspaces/workspace.messages.js";
import { directoryKey } from "../../runtime/directories/directory.js";
import { rebuildDirectories } from "../../runtime/directories/rebuild-directories.js";
import { createMemoryStore } from "../../storage/memory-store.js";
import type { Change, Entry, Reading } from "../../storage/store.js";
import { Harness, settled } from "../support/harness.js";
import { plainLane } from "../support/plain-effect.js";

const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
const directories = createDirectoryCatalogue(kinds);
const catalogue = {
  actors: createActorTypes(kinds),
  effects: [MAIL_EFFECT.implement(plainLane(4), async () => undefined as never)],
};
const ada = { kind: "person", userId: "usr_ada", email: "ada@example.com", sessionId: "ses_1" } as const;
const bob = { userId: "usr_bob", email: "bob@example.com" };

/**
 * Sends a request to the service. Requests are sent one after another, and each may be sent again. The service refuses
 * a repeated request, or handles it without a change.
 */
type Deed = (harness: Harness, workspaceId: string) => Promise<unknown>;

const find = ({ durable }: Harness, workspaceId: string, kind: string): ResourceRow | undefined =>
  resources.list(durable, workspaceId, [kind])[0];
const findInvite = ({ durable }: Harness, workspaceId: string): InviteRow | undefined =>
  invites.list(durable, workspaceId)[0];

async function write(harness: Harness, workspaceId: string, kindName: string, body: Body): Promise<unknown> {
  const kind = kinds.find(({ name }) => name === kindName);
  if (kind === undefined) throw new Error(`there is no kind ${kindName}`);
  const { hidden = {}, ...fields } = body;
  const known = find(harness, workspaceId, kindName);
  const of = { kind, hidden, holder: { workspaceId, id: known?.id ?? null } };
  return withReservedHashes<unknown>(harness.runtime, of, (reserved) => {
    const common = { kind: kindName, caller: ada, client: null, hidden, reserved, fields: kind.schema.parse(fields) };
    const to = workspaceRef(workspaceId);
    if (known !== undefined) {
      const { id, version } = known;
      return harness.runtime.ask(to, { type: "resource.update", ...common, id, version });
    }
    const idempotency = { scope: "s", key: kindName, digest: "d" };
    return harness.runtime.ask(to, { type: "resource.create", ...common, teamId: null, idempotency });
  });
}

interface Body {
  readonly hidden?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

const put =
  (kind: string, body: Body): Deed =>
  (harness, workspaceId) =>
    write(harness, workspaceId, kind, body);

const remove =
  (kind: string): Deed =>
  async (harness, workspaceId) => {
    const known = find(harness, workspaceId, kind);
    if (known === undefined) return;
    const { id, version } = known;
    const message = { type: "resource.delete", kind, caller: ada, client: null, id, version } as const;
    await harness.runtime.ask(workspaceRef(workspaceId), message);
  };

const link = (tokenHash: string) => ({ tokenHash, sealedMail: "sealed" });
const invite =
  (tokenHash: string): Deed =>
  ({ runtime }, workspaceId) =>
    runtime.ask(inviteRef(workspaceId, bob.email), {
      type: "invite.send",
      by: ada.userId,
      role: "member",
      teams: [],
      ...link(tokenHash),
    });

const open: Deed = ({ runtime }) =>
  openWorkspace(runtime, {
    kind: "workspace",
    caller: ada,
    client: null,
    teamId: null,
    hidden: {},
    fields: { slug: "acme", name: "A" },
    idempotency: { scope: "s", key: "acme", digest: "d" },
  });

const deeds: readonly Deed[] = [
  open,
  put("team", { key: "core", name: "Core" }),
  put("runner-pool", { key: "main", hidden: { token: "hash_1" } }),
  invite("link_1"),
  put("runner-pool", { key: "main", hidden: { token: "hash_2" } }),
  invite("link_2"),
  async (harness, workspaceId) => {
    const inviteId = findInvite(harness, workspaceId)?.inviteId ?? "";
    await harness.runtime.ask(inviteRef(workspaceId, bob.email), { type: "invite.revoke", inviteId });
  },
  invite("link_3"),
  ({ runtime }, workspaceId) =>
    runtime.ask(inviteRef(workspaceId, bob.email), { type: "invite.accept", tokenHash: "link_3", ...bob }),
  remove("runner-pool"),
  ({ runtime }, workspaceId) =>
    runtime.ask(workspaceRef(workspaceId), { type: "member.remove", by: ada.userId, userId: bob.userId }),
  remove("workspace"),
];

const listEntries = (reading: Reading): readonly Entry[] =>
  directories.names.flatMap((directory) => reading.range({ prefix: directoryKey({ directory, id: [] }) }));

/** Returns the directory entries derived from the partitions' rows. */
async function rebuilt(reading: Reading): Promise<readonly Entry[]> {
  const copy = createMemoryStore();
  const rows = reading.range({ prefix: [] });
  await copy.commit(rows.map(({ key, value }): Change => ({ op: "put", key, value })));
  await rebuildDirectories(copy, directories);
  return listEntries(copy.reading);
}

t.test(
  "killed at any commit, directories say what the partitions hold, and so they do when a turn is answered",
  async (t) => {
    let kills = 0;
    for (const when of ["before", "after"] as const) {
      for (let commit = 1, isKilled = true; isKilled; commit++) {
        // One turn per batch, so that a kill can come between any two turns.
        const harness = new Harness({ catalogue, limits: { turnsPerBatch: 1 } });
        harness.killAt = { commit, when };
        await harness.start();
        isKilled = false;
        const at = `killed ${when} commit ${commit}`;
        for (const [n, deed] of deeds.entries()) {
          const act = async () => {
            const done = settled(deed(harness, findWorkspaceBySlug(harness.durable, "acme") ?? ""));
            await harness.advance(3_000);
            return done;
          };
          void act();
          await harness.advance(4_000);
          if (!isKilled && harness.batches.length >= commit) {
            isKilled = true;
            harness.crash();
            t.same(listEntries(harness.durable), await rebuilt(harness.durable), `${at}, in ${n}`);
            harness.killAt = null;
            await harness.start();
            const again = await act();
            t.notOk("error" in again, `${at}, done again: ${n}`);
          }
          t.same(listEntries(harness.durable), await rebuilt(harness.durable), `${at}, after ${n}`);
          if (n === 8) t.ok(listEntries(harness.durable).length >= 6, `${listEntries(harness.durable).length} entries`);
        }
        t.same(harness.logged, [], at);
        kills += isKilled ? 1 : 0;
      }
    }
    t.ok(kills >= 2 * deeds.length, `${kills} kills`);
  },
);
