/**
 * A workspace, `workspace/<id>`: the one writer of its configuration.
 *
 * | state  | moved by                                   | next   | also                                         |
 * |--------|--------------------------------------------|--------|----------------------------------------------|
 * | absent | workspace.open, in the claim's time         | open   | its creator is the owner; the claim of the   |
 * |        |                                            |        | slug is confirmed                            |
 * | absent | workspace.open, later; any create           | absent | refused; leaves no rows                      |
 * | absent | name.ask                                    | absent | the claim of the slug lapses                 |
 * | open   | workspace.open                              | open   | a repeat: answered with the workspace        |
 * | either | name.ask                                    | same   | the claim of the slug is confirmed           |
 * | open   | resource.create, .update, .delete           | open   | rows, indexes, change record, one batch;     |
 * |        |                                            |        | fact `<kind>.changed`                        |
 * | open   | the same, by who may not any more           | open   | refused                                      |
 * | open   | member.role, .remove, team.join, .leave     | open   | the person's row; one owner always remains;  |
 * |        |                                            |        | fact `member.left`                           |
 * | open   | resource.delete of the workspace            | closed | fact `workspace.closed`; the slug stays taken|
 * | closed | workspace.open                              | closed | refused: what the key made is gone           |
 * | closed | any write sent before the closing           | closed | refused: not found                           |
 * | open   | token.expire                               | open   | the token's hash is removed                  |
 * | either | woken `sweep`                               | same   | removes idempotency keys past their window   |
 */
import { assertEvent, assign, setup } from "xstate";
import type { ActorType } from "../../runtime/actor-type.js";
import { defineActor } from "../../runtime/define-actor.js";
import type { Delivered, Fact, Turn, Woken } from "../../runtime/turn.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { hasAttempts, IDEMPOTENCY_WINDOW_MS, sweepAttempts } from "../resources/idempotency.table.js";
import type { Kind } from "../resources/kind.js";
import { createResource, deleteResource, replayCreate, updateResource } from "../resources/operations.js";
import { withdrawOrphaned } from "../resources/orphaned-resources.js";
import type {
  CreateResource,
  DeleteResource,
  ResourceChanged,
  ResourceMessage,
  WriteResult,
} from "../resources/resource.messages.js";
import { findResource, isWorkspaceOpen, type ResourceRow } from "../resources/resource.table.js";
import { putResource } from "../resources/resource-indexes.table.js";
import type { AskHolder, ClaimedName } from "../tables/claims.js";
import { dissolveTeam, findMember, forgetMemberships, putMember } from "./member.table.js";
import {
  changeRole,
  joinTeam,
  leaveTeam,
  type MembershipMessage,
  removeFromWorkspace,
} from "./membership.transitions.js";
import { slugClaimsRef } from "./slug-claims.machine.js";
import { type ExpireToken, type OpenedTooLate, type OpenWorkspace, workspaceRef } from "./workspace.messages.js";

/** Published when a workspace is closed. */
export interface WorkspaceClosed extends Fact {
  readonly name: "workspace.closed";
  readonly workspaceId: string;
}

interface WorkspaceContext {
  /** Whether a wake-up that sweeps idempotency keys is set. */
  readonly sweeping: boolean;
}

type Make = (kind: Kind) => WriteResult | Refusal;

type WorkspaceEvent = Delivered<OpenWorkspace | ExpireToken | ResourceMessage | MembershipMessage | AskHolder | Woken>;

const resourceMessages = ["resource.create", "resource.update", "resource.delete"] as const;
const membershipMessages = ["member.role", "member.remove", "team.join", "team.leave"] as const;

/** Why the caller may not make a write, as of its turn; or null. */
export type RefuseWrite = (turn: Turn, kind: Kind, message: ResourceMessage) => Refusal | null;

/** The transitions by state. */
const states = {
  absent: {
    on: {
      "workspace.open": [
        { guard: "isInTime", target: "open", actions: "open" },
        { target: "absent", actions: "refuseLate" },
      ],
      "name.ask": { target: "absent", actions: "lapseClaim" },
      "resource.create": { target: "absent", actions: "refuseCreate" },
    },
  },
  open: {
    on: {
      "workspace.open": { target: "open", actions: "replay" },
      "name.ask": { target: "open", actions: "confirmClaim" },
      "resource.create": { target: "open", actions: "create" },
      "resource.update": { target: "open", actions: "update" },
      "resource.delete": [
        { guard: "closes", target: "closed", actions: "close" },
        { target: "open", actions: "delete" },
      ],
      "member.role": { target: "open", actions: "changeRole" },
      "member.remove": { target: "open", actions: "removeMember" },
      "team.join": { target: "open", actions: "joinTeam" },
      "team.leave": { target: "open", actions: "leaveTeam" },
      "token.expire": { target: "open", actions: "expireToken" },
      woken: { target: "open", actions: "sweep" },
    },
  },
  closed: {
    on: {
      "workspace.open": { target: "closed", actions: "replay" },
      "name.ask": { target: "closed", actions: "confirmClaim" },
      "resource.create": { target: "closed", actions: "refuseClosed" },
      "resource.update": { target: "closed", actions: "refuseClosed" },
      "resource.delete": { target: "closed", actions: "refuseClosed" },
      "member.role": { target: "closed", actions: "refuseClosed" },
      "member.remove": { target: "closed", actions: "refuseClosed" },
      "team.join": { target: "closed", actions: "refuseClosed" },
      "team.leave": { target: "closed", actions: "refuseClosed" },
      woken: { target: "closed", actions: "sweep" },
    },
  },
} as const;

interface ActionArgs {
  readonly event: WorkspaceEvent;
}

const claimActions = {
  confirmClaim: ({ event }: ActionArgs) => {
    assertEvent(event, "name.ask");
    confirmClaim(event.turn, event.name);
  },
  lapseClaim: ({ event }: ActionArgs) => {
    assertEvent(event, "name.ask");
    lapseClaim(event);
  },
};

const membershipActions = {
  changeRole: ({ event }: ActionArgs) => {
    assertEvent(event, "member.role");
    event.turn.reply(changeRole(event));
  },
  removeMember: ({ event }: ActionArgs) => {
    assertEvent(event, "member.remove");
    event.turn.reply(removeFromWorkspace(event));
  },
  joinTeam: ({ event }: ActionArgs) => {
    assertEvent(event, "team.join");
    event.turn.reply(joinTeam(event));
  },
  leaveTeam: ({ event }: ActionArgs) => {
    assertEvent(event, "team.leave");
    event.turn.reply(leaveTeam(event));
  },
};

/** The workspace actor for these kinds; it calls `refuses` in the turn of each write. */
export function workspaceActor(kinds: readonly Kind[], refuses: RefuseWrite): ActorType {
  const kindOf = kindFinder(kinds);
  /** Answers a write, refused or made, with what follows from it. */
  const write = (event: Delivered<ResourceMessage>, context: WorkspaceContext, make: Make): WorkspaceContext => {
    const kind = kindOf(event.kind);
    const written = refuses(event.turn, kind, event) ?? make(kind);
    event.turn.reply(written);
    if (!isRefusal(written) && !written.replayed) settle(event, written.resource, kinds);
    if (context.sweeping) return context;
    event.turn.wake("sweep", event.turn.now + IDEMPOTENCY_WINDOW_MS);
    return { sweeping: true };
  };
  const machine = setup({
    types: { context: {} as WorkspaceContext, events: {} as WorkspaceEvent },
    guards: {
      isInTime: ({ event }) => {
        assertEvent(event, "workspace.open");
        return event.turn.now < event.openBeforeMs;
      },
      closes: ({ event }) => {
        assertEvent(event, "resource.delete");
        if (event.kind !== "workspace" || refuses(event.turn, kindOf(event.kind), event) !== null) return false;
        return isCurrent(event);
      },
    },
    actions: {
      open: ({ event }) => {
        assertEvent(event, "workspace.open");
        openWorkspace(event, kindOf("workspace"));
      },
      replay: ({ event }) => {
        assertEvent(event, "workspace.open");
        event.turn.reply(replayCreate(event.turn, kindOf("workspace"), event.turn.self.partition));
      },
      refuseLate: ({ event }) => refuseLate(event),
      ...claimActions,
      create: assign(({ context, event }) => {
        assertEvent(event, "resource.create");
        return write(event, context, (kind) => createWithin(event, kind));
      }),
      update: assign(({ context, event }) => {
        assertEvent(event, "resource.update");
        return write(event, context, (kind) => updateResource(event.turn, kind, event));
      }),
      delete: assign(({ context, event }) => {
        assertEvent(event, "resource.delete");
        return write(event, context, (kind) => deleteWithin(event, kind));
      }),
      refuseCreate: ({ event }) => {
        assertEvent(event, "resource.create");
        event.turn.reply(createResource(event.turn, kindOf(event.kind), event));
        event.turn.stop();
      },
      refuseClosed: ({ event }) => refuseClosed(event),
      ...membershipActions,
      close: ({ event }) => {
        assertEvent(event, "resource.delete");
        closeWorkspace(event, kindOf("workspace"));
      },
      expireToken: ({ event }) => expireToken(event, kindOf("workspace-token")),
      sweep: ({ event }) => sweep(event.turn),
    },
  }).createMachine({
    id: "workspace",
    context: { sweeping: false },
    initial: "absent",
    states,
  });
  return defineActor(workspaceRef, { machine, version: 1 });
}

const tooLate: OpenedTooLate = { isTooLate: true };
const gone: Refusal = { refused: "not-found" };

function refuseLate(event: WorkspaceEvent): void {
  assertEvent(event, "workspace.open");
  event.turn.reply(tooLate);
  event.turn.stop();
}

function refuseClosed(event: WorkspaceEvent): void {
  assertEvent(event, [...resourceMessages, ...membershipMessages]);
  event.turn.reply(gone);
}

/** Removes idempotency keys past their window: while the workspace is open, and then until none is left. */
function sweep(turn: Turn): void {
  const { partition } = turn.self;
  const nextMs = sweepAttempts(turn, partition);
  const isOpen = isWorkspaceOpen(turn, partition);
  const isUnderWay = nextMs === turn.now;
  if (isUnderWay || isOpen || hasAttempts(turn, partition)) turn.wake("sweep", nextMs);
}

/** Removes the hash that admits the token's bearer; what is shown of the token stays as it is. */
function expireToken(event: WorkspaceEvent, kind: Kind): void {
  assertEvent(event, "token.expire");
  const { turn, id } = event;
  const row = findResource(turn, turn.self.partition, kind.name, id);
  if (row !== undefined) putResource(turn, kind, { ...row, hidden: {} }, row);
}

function kindFinder(kinds: readonly Kind[]): (name: string) => Kind {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  return (name) => {
    const kind = byName.get(name);
    if (kind === undefined) throw new Error(`no kind ${name}`);
    return kind;
  };
}

/** After a change: removes orphaned resources of stations, and publishes all changes. */
function settle(event: Delivered<ResourceMessage>, resource: ResourceRow, kinds: readonly Kind[]): void {
  const withdrawn = resource.kind === "line" ? withdrawOrphaned(event.turn, kinds, resource, event.client) : [];
  for (const each of [resource, ...withdrawn]) announce(event.turn, each);
}

function announce(turn: Turn, { kind, id }: ResourceRow): void {
  const changed: ResourceChanged = { name: `${kind}.changed`, id };
  turn.publish(changed);
}

function openWorkspace(event: Delivered<OpenWorkspace>, kind: Kind): void {
  const { turn, caller } = event;
  const workspaceId = turn.self.partition;
  const written = createResource(turn, kind, event);
  if (isRefusal(written)) throw new Error(`a workspace whose slug is claimed is refused: ${written.refused}`);
  turn.reply(written);
  confirmClaim(turn, [written.resource.address]);
  if (caller.kind === "person") {
    const { userId, email } = caller;
    const since = new Date(turn.now).toISOString();
    putMember(turn, workspaceId, { userId, email, role: "owner", teams: [], since });
  }
  announce(turn, written.resource);
}

function confirmClaim(turn: Turn, name: ClaimedName): void {
  turn.send(slugClaimsRef, { type: "name.confirm", name, workspaceId: turn.self.partition });
}

/** The time of the claim is over: the workspace was not opened and will not be. */
function lapseClaim({ turn, name, untilMs }: Delivered<AskHolder>): void {
  turn.send(slugClaimsRef, { type: "name.lapse", name, workspaceId: turn.self.partition, untilMs });
  turn.stop();
}

function createWithin(event: Delivered<CreateResource>, kind: Kind): WriteResult | Refusal {
  const { turn, caller } = event;
  const written = createResource(turn, kind, event);
  if (kind.name !== "team" || isRefusal(written) || written.replayed || caller.kind !== "person") return written;
  const member = findMember(turn, turn.self.partition, caller.userId);
  if (member !== undefined) {
    putMember(turn, turn.self.partition, { ...member, teams: [...member.teams, written.resource.id] });
  }
  return written;
}

function deleteWithin(event: Delivered<DeleteResource>, kind: Kind): WriteResult | Refusal {
  const written = deleteResource(event.turn, kind, event);
  if (kind.name === "team" && !isRefusal(written)) dissolveTeam(event.turn, event.turn.self.partition, event.id);
  return written;
}

function isCurrent(event: Delivered<DeleteResource>): boolean {
  return findResource(event.turn, event.turn.self.partition, "workspace", event.id)?.version === event.version;
}

function closeWorkspace(event: Delivered<DeleteResource>, kind: Kind): void {
  const { turn } = event;
  turn.reply(deleteResource(turn, kind, event));
  forgetMemberships(turn, turn.self.partition);
  const closed: WorkspaceClosed = { name: "workspace.closed", workspaceId: turn.self.partition };
  turn.publish(closed);
}
