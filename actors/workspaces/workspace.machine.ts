/**
 * A workspace, `workspace/<id>`. Only this actor writes the workspace's configuration.
 *
 * | state  | moved by                                | next   | also                                          |
 * |--------|-----------------------------------------|--------|-----------------------------------------------|
 * | absent | workspace.open, in the claim's time     | open   | its creator is the owner; confirms the slug   |
 * |        |                                         |        | claim                                         |
 * | absent | workspace.open, later; any create       | absent | refused; leaves no rows                       |
 * | absent | name.ask                                | absent | lets the slug claim lapse                     |
 * | open   | workspace.open                          | open   | a repeat: answers with the workspace          |
 * | either | name.ask                                | same   | confirms the slug claim                       |
 * | open   | resource.create, .update, .delete       | open   | rows, indexes, change record, one batch;      |
 * |        |                                         |        | fact `<kind>.changed`                         |
 * | open   | resource write, its permission is lost  | open   | refused                                       |
 * | open   | member.role, .remove, team.join, .leave | open   | the person's row; one owner always remains;   |
 * |        |                                         |        | fact `member.left`                            |
 * | open   | resource.delete of the workspace        | closed | fact `workspace.closed`; the slug stays taken |
 * | closed | workspace.open                          | closed | refused: the key's workspace is closed        |
 * | closed | any write sent before the closing       | closed | refused: not found                            |
 * | open   | token.expire                            | open   | removes the token's hash                      |
 * | either | woken `sweep`                           | same   | removes idempotency keys past their window    |
 */
import type { ActorType } from "../../runtime/cells/actor-type.js";
import { createChart } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import type { Delivered, Fact, Turn, Woken } from "../../runtime/turns/turn.js";
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
  /** Whether a wake-up to sweep idempotency keys is set. */
  readonly sweeping: boolean;
}

type WorkspaceMessage = OpenWorkspace | ExpireToken | ResourceMessage | MembershipMessage | AskHolder | Woken;

/** Returns why the caller may not make a write, or null. Called in the turn of the write. */
export type RefuseWrite = (turn: Turn, kind: Kind, message: ResourceMessage) => Refusal | null;

const { on, choose, machine } = createChart<WorkspaceContext, WorkspaceMessage>();

/** Transitions of an open or closed workspace. */
const opened = {
  ...on("name.ask", ({ turn, name }) => confirmClaim(turn, name)),
  ...on("woken", sweep),
};

const closed = {
  ...opened,
  ...on("resource.create", refuseClosed),
  ...on("resource.update", refuseClosed),
  ...on("resource.delete", refuseClosed),
  ...on("member.role", refuseClosed),
  ...on("member.remove", refuseClosed),
  ...on("team.join", refuseClosed),
  ...on("team.leave", refuseClosed),
};

/** Creates the workspace actor for these kinds. The actor calls `refuses` in the turn of each write. */
export function workspaceActor(kinds: readonly Kind[], refuses: RefuseWrite): ActorType {
  const getKind = kindFinder(kinds);
  const write = writer(kinds, refuses);
  const closes = (event: Delivered<DeleteResource>) =>
    event.kind === "workspace" && refuses(event.turn, getKind(event.kind), event) === null && isCurrent(event);
  const replay = on("workspace.open", ({ turn }) =>
    turn.reply(replayCreate(turn, getKind("workspace"), turn.self.partition)),
  );
  const workspaceMachine = machine({
    id: "workspace",
    context: { sweeping: false },
    initial: "absent",
    states: {
      absent: {
        on: {
          ...choose(
            "workspace.open",
            {
              when: ({ turn, openBeforeMs }) => turn.now < openBeforeMs,
              to: "open",
              act: (event) => openWorkspace(event, getKind("workspace")),
            },
            { act: refuseLate },
          ),
          ...on("name.ask", lapseClaim),
          ...on("resource.create", (event) => refuseCreate(event, getKind(event.kind))),
        },
      },
      open: {
        on: {
          ...opened,
          ...replay,
          ...on("resource.create", (event, context) => write(event, context, (kind) => createWithin(event, kind))),
          ...on("resource.update", (event, context) =>
            write(event, context, (kind) => updateResource(event.turn, kind, event)),
          ),
          ...choose(
            "resource.delete",
            { when: closes, to: "closed", act: (event) => closeWorkspace(event, getKind("workspace")) },
            { act: (event, context) => write(event, context, (kind) => deleteWithin(event, kind)) },
          ),
          ...on("member.role", (event) => event.turn.reply(changeRole(event))),
          ...on("member.remove", (event) => event.turn.reply(removeFromWorkspace(event))),
          ...on("team.join", (event) => event.turn.reply(joinTeam(event))),
          ...on("team.leave", (event) => event.turn.reply(leaveTeam(event))),
          ...on("token.expire", (event) => expireToken(event, getKind("workspace-token"))),
        },
      },
      closed: { on: { ...closed, ...replay } },
    },
  });
  return defineActor(workspaceRef, { machine: workspaceMachine, version: 1 });
}

type Make = (kind: Kind) => WriteResult | Refusal;

/**
 * Returns a function that makes or refuses a write, replies, and then publishes the change and removes orphaned
 * resources.
 */
function writer(kinds: readonly Kind[], refuses: RefuseWrite) {
  const getKind = kindFinder(kinds);
  return (event: Delivered<ResourceMessage>, context: WorkspaceContext, make: Make): WorkspaceContext => {
    const kind = getKind(event.kind);
    const written = refuses(event.turn, kind, event) ?? make(kind);
    event.turn.reply(written);
    if (!isRefusal(written) && !written.replayed) settle(event, written.resource, kinds);
    if (context.sweeping) return context;
    event.turn.wake("sweep", event.turn.now + IDEMPOTENCY_WINDOW_MS);
    return { sweeping: true };
  };
}

const tooLate: OpenedTooLate = { isTooLate: true };
const gone: Refusal = { refused: "not-found" };

function refuseLate({ turn }: Delivered<OpenWorkspace>): void {
  turn.reply(tooLate);
  turn.stop();
}

/** Refuses a create in a workspace that does not exist. The refusal is the one that `createResource` returns. */
function refuseCreate(event: Delivered<CreateResource>, kind: Kind): void {
  event.turn.reply(createResource(event.turn, kind, event));
  event.turn.stop();
}

function refuseClosed({ turn }: Delivered<ResourceMessage | MembershipMessage>): void {
  turn.reply(gone);
}

/**
 * Removes idempotency keys older than the window, and schedules the next sweep. If the workspace is closed, sweeps only
 * until no key is left.
 */
function sweep({ turn }: Delivered<Woken>): void {
  const { partition } = turn.self;
  const nextMs = sweepAttempts(turn, partition);
  const isOpen = isWorkspaceOpen(turn, partition);
  const isUnderWay = nextMs === turn.now;
  if (isUnderWay || isOpen || hasAttempts(turn, partition)) turn.wake("sweep", nextMs);
}

/**
 * Removes the hash of an expired token, so that the service no longer finds the token by its value. The visible fields
 * do not change.
 */
function expireToken({ turn, id }: Delivered<ExpireToken>, kind: Kind): void {
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

/**
 * Publishes a change. If the change removed stations, also removes the resources of these stations and publishes their
 * removal.
 */
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

/** Tells the claims actor that the claim has timed out: the workspace was not opened and will not be. */
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
