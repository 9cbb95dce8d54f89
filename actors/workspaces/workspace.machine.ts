/**
 * A workspace, `workspace/<id>`: the one writer of its configuration.
 *
 * | state  | moved by                                   | next   | also                                         |
 * |--------|--------------------------------------------|--------|----------------------------------------------|
 * | absent | resource.create of the workspace           | open   | its creator is the owner; the slug is taken  |
 * | absent | the same, refused or repeated               | absent | answered from the workspace that has the key;|
 * |        |                                            |        | nothing is left of it                        |
 * | open   | resource.create, .update, .delete           | open   | rows, indexes, change record, one batch;     |
 * |        |                                            |        | fact `<kind>.changed`                        |
 * | open   | the same, by who may not any more           | open   | refused                                      |
 * | open   | member.role, .remove, team.join, .leave     | open   | the person's row; always an owner is left;   |
 * |        |                                            |        | fact `member.left`                           |
 * | open   | resource.delete of the workspace            | closed | fact `workspace.closed`; the slug stays taken|
 * | closed | any write that was on its way               | closed | refused: there is nothing here               |
 * | open   | woken `sweep`                               | open   | idempotency keys past their window go        |
 */
import { assign, setup } from "xstate";
import type { ActorType } from "../../runtime/actor-type.js";
import type { Delivered, Fact, Turn, Woken } from "../../runtime/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import { table } from "../../storage/table.js";
import { isRefusal, type Refusal } from "../refusal.js";
import { findAttempt, IDEMPOTENCY_WINDOW_MS, sweepAttempts } from "../resources/idempotency.table.js";
import type { Kind } from "../resources/kind.js";
import { addressTaken, createResource, deleteResource, updateResource } from "../resources/operations.js";
import { withdrawOrphaned } from "../resources/orphaned-resources.js";
import type {
  CreateResource,
  DeleteResource,
  ResourceChanged,
  ResourceMessage,
  WriteResult,
} from "../resources/resource.messages.js";
import { findResource, type ResourceRow } from "../resources/resource.table.js";
import { dissolveTeam, findMember, forgetMemberships, putMember } from "./member.table.js";
import { changeMembership, type MembershipMessage } from "./membership.transitions.js";
import type { WorkspaceFields } from "./workspace.kind.js";

/** Heard when a workspace is closed. */
export interface WorkspaceClosed extends Fact {
  readonly name: "workspace.closed";
  readonly workspaceId: string;
}

/** `[slug]` under the global partition: every slug ever taken. */
const slugs = table<{ readonly workspaceId: string }>("workspace-slug");

const SWEEP_EVERY_MS = 60 * 60 * 1_000;

type WorkspaceEvent = Delivered<ResourceMessage> | Delivered<MembershipMessage> | Delivered<Woken>;

/** The id of the workspace with this slug, open or closed. */
export function findWorkspaceBySlug(reading: Pick<Turn, "get" | "range">, slug: string): string | undefined {
  return slugs.get(reading, GLOBAL_PARTITION, slug)?.workspaceId;
}

/** Why whoever asks for a write may not make it, as of its turn; or null. */
export type RefuseWrite = (turn: Turn, kind: Kind, message: ResourceMessage) => Refusal | null;

/** The workspace actor over the kinds it writes; `refuses` is asked in the turn of each write. */
export function workspaceActor(kinds: readonly Kind[], refuses: RefuseWrite): ActorType {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const kindOf = (name: string): Kind => {
    const kind = byName.get(name);
    if (kind === undefined) throw new Error(`no kind ${name}`);
    return kind;
  };
  const machine = setup({
    types: { context: {} as { readonly sweeping: boolean }, events: {} as WorkspaceEvent },
    guards: {
      opens: ({ event }) => event.type === "resource.create" && opens(event, event.turn),
      closes: ({ event }) =>
        event.type === "resource.delete" &&
        event.kind === "workspace" &&
        refuses(event.turn, kindOf(event.kind), event) === null &&
        isCurrent(event),
    },
    actions: {
      write: assign(({ context, event }) => {
        if (!("kind" in event)) return context;
        const kind = kindOf(event.kind);
        const written = refuses(event.turn, kind, event) ?? write(event, kind);
        event.turn.reply(written);
        if (!isRefusal(written) && !written.replayed) settle(event, written.resource, kinds);
        if (context.sweeping) return context;
        event.turn.wake("sweep", event.turn.now + IDEMPOTENCY_WINDOW_MS);
        return { sweeping: true };
      }),
      refuse: ({ event }) => {
        const { turn } = event;
        if ("kind" in event) turn.reply(write(event, kindOf(event.kind)));
        turn.stop();
      },
      turnAway: ({ event }) => {
        const gone: Refusal = { refused: "not-found" };
        event.turn.reply(gone);
      },
      changeMembership: ({ event }) => {
        if (event.type !== "woken" && !("kind" in event)) event.turn.reply(changeMembership(event));
      },
      close: ({ event }) => {
        if (event.type === "resource.delete") closeWorkspace(event, kindOf("workspace"));
      },
      sweep: ({ event }) => {
        const { turn } = event;
        const more = [turn.self.partition, GLOBAL_PARTITION].map((partition) => sweepAttempts(turn, partition));
        turn.wake("sweep", turn.now + (more.includes(true) ? 0 : SWEEP_EVERY_MS));
      },
    },
  }).createMachine({
    id: "workspace",
    context: { sweeping: false },
    initial: "absent",
    states: {
      absent: {
        on: {
          "resource.create": [
            { guard: "opens", target: "open", actions: "write" },
            { target: "absent", actions: "refuse" },
          ],
        },
      },
      open: {
        on: {
          "resource.create": { target: "open", actions: "write" },
          "resource.update": { target: "open", actions: "write" },
          "resource.delete": [
            { guard: "closes", target: "closed", actions: "close" },
            { target: "open", actions: "write" },
          ],
          "member.role": { target: "open", actions: "changeMembership" },
          "member.remove": { target: "open", actions: "changeMembership" },
          "team.join": { target: "open", actions: "changeMembership" },
          "team.leave": { target: "open", actions: "changeMembership" },
          woken: { target: "open", actions: "sweep" },
        },
      },
      closed: {
        on: {
          "resource.create": { target: "closed", actions: "turnAway" },
          "resource.update": { target: "closed", actions: "turnAway" },
          "resource.delete": { target: "closed", actions: "turnAway" },
          "member.role": { target: "closed", actions: "turnAway" },
          "member.remove": { target: "closed", actions: "turnAway" },
          "team.join": { target: "closed", actions: "turnAway" },
          "team.leave": { target: "closed", actions: "turnAway" },
        },
      },
    },
  });
  return { kind: "workspace", machine, version: 1 };
}

/** What follows a change: what its stations held and hold no longer goes, and all of it is told. */
function settle(event: Delivered<ResourceMessage>, resource: ResourceRow, kinds: readonly Kind[]): void {
  const withdrawn = resource.kind === "line" ? withdrawOrphaned(event.turn, kinds, resource, event.client) : [];
  for (const each of [resource, ...withdrawn]) announce(event.turn, each);
}

function announce(turn: Turn, { kind, id }: ResourceRow): void {
  const changed: ResourceChanged = { name: `${kind}.changed`, id };
  turn.publish(changed);
}

function write(event: Delivered<ResourceMessage>, kind: Kind): WriteResult | Refusal {
  switch (event.type) {
    case "resource.create":
      return kind.name === "workspace" ? openWorkspace(event, kind) : createWithin(event, kind);
    case "resource.update":
      return updateResource(event.turn, kind, event);
    case "resource.delete":
      return deleteWithin(event, kind);
  }
}

/** Whether this create brings the workspace about: its slug is free, and its key was not used before. */
function opens(event: CreateResource, turn: Turn): boolean {
  return (
    event.kind === "workspace" &&
    findWorkspaceBySlug(turn, (event.fields as WorkspaceFields).slug) === undefined &&
    findAttempt(turn, GLOBAL_PARTITION, event.idempotency) === null
  );
}

function openWorkspace(event: Delivered<CreateResource>, kind: Kind): WriteResult | Refusal {
  const { turn, caller } = event;
  const { slug } = event.fields as WorkspaceFields;
  const free = opens(event, turn);
  if (!free && findAttempt(turn, GLOBAL_PARTITION, event.idempotency) === null) return addressTaken(kind, slug);
  const written = createResource(turn, kind, event);
  if (!free || isRefusal(written) || caller.kind !== "person") return written;
  slugs.put(turn, GLOBAL_PARTITION, slug, { workspaceId: turn.self.partition });
  const { userId, email } = caller;
  const since = new Date(turn.now).toISOString();
  putMember(turn, turn.self.partition, { userId, email, role: "owner", teams: [], since });
  return written;
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
