import { findHolder, type Holder, type VisibleResource } from "../../actors/access/visibility/resource.queries.js";
import { forbid } from "../../actors/access/visibility/visibility.js";
import { refuseReplay, refuseWrite } from "../../actors/access/visibility/write-permission.js";
import type { Caller } from "../../actors/caller.js";
import { canonicalJson } from "../../actors/resources/canonical-json.js";
import type { Kind } from "../../actors/resources/kind.js";
import { readingBack } from "../../actors/resources/read-back.js";
import { toLiveRepresentation } from "../../actors/resources/representation.js";
import { withReservedHashes } from "../../actors/resources/reserve-hashes.js";
import type { ReservedHashes, ResourceMessage, WriteResult } from "../../actors/resources/resource.messages.js";
import type { Sealer } from "../../actors/sealer.js";
import { openWorkspace } from "../../actors/workspaces/open-workspace.js";
import { workspaceRef } from "../../actors/workspaces/workspace.messages.js";
import type { Runtime } from "../../runtime/runtime.js";
import { idempotencyKey, ifMatchVersion } from "../wire/headers.js";
import { granted, Refused } from "../wire/refused.js";
import type { Answer, RouteRequest } from "../wire/route.js";
import { prepare, withoutRepeated } from "./prepare.js";

/** The dependencies of resource writes. */
export interface ResourceWriter {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

type Request = RouteRequest<"any", unknown, unknown>;

/** Creates a resource in the holder that the path names. Throws {@link Refused}, like the other writes. */
export async function createOne(kind: Kind, writer: ResourceWriter, request: Request): Promise<Answer> {
  const { runtime, sealer } = writer;
  const holder = toHolder(kind, writer, request);
  const key = granted(idempotencyKey(request.header("idempotency-key")));
  const makeToken = () => Buffer.from(runtime.randomBytes(32)).toString("base64url");
  const { revealed, fields, hidden } = granted(prepare(kind, request.body, sealer, makeToken));
  const { caller, client } = request;
  const { workspaceId, teamId, station } = holder;
  const digest = sealer.digest(canonicalJson(request.body ?? null));
  const idempotency = { scope: toScope(kind, caller, holder), key, digest };
  const create = async (reserved: ReservedHashes | undefined) => {
    const type = "resource.create";
    // Use one object literal, because spreading other objects is slow.
    const wanted = {
      type,
      kind: kind.name,
      caller,
      client,
      teamId,
      station,
      fields,
      hidden,
      reserved,
      idempotency,
    } as const;
    return kind.heldBy === "none" ? granted(await openWorkspace(runtime, wanted)) : write(runtime, workspaceId, wanted);
  };
  // A value that was generated just now cannot be in use, so do not check it.
  const of = { kind, hidden: revealed === null ? hidden : {}, holder: { workspaceId, id: null } };
  const { resource, replayed } = await withReservedHashes(runtime, of, create);
  if (replayed) granted(refuseReplay(runtime.reading, caller, kind, resource));
  return {
    status: 201,
    body: toBody(kind, runtime, caller, resource),
    headers: {
      etag: `"${resource.version}"`,
      ...(replayed ? { "idempotent-replayed": "true" } : {}),
      ...(revealed === null || replayed ? {} : { [revealed.header]: revealed.value }),
    },
  };
}

/** Replaces a resource by the request body. */
export async function replaceOne(
  kind: Kind,
  { runtime, sealer }: ResourceWriter,
  request: Request,
  row: VisibleResource,
): Promise<Answer> {
  const { workspaceId, id } = row;
  const { caller, client, body } = request;
  granted(refuseWrite(runtime.reading, caller, { workspaceId, kind, action: "update" }));
  const version = granted(ifMatchVersion(request.header("if-match")));
  const based = { row, version, body };
  const prepared = granted(readingBack(kind, based, (changed) => prepare(kind, changed, sealer, null)));
  const { fields } = prepared;
  // If the row has another version than the write is based on, send all hidden values, because the stored values may
  // differ.
  const hidden = row.version === version ? withoutRepeated(kind, prepared, row, sealer) : prepared.hidden;
  const of = { kind, hidden, holder: { workspaceId, id } };
  const { resource } = await withReservedHashes(runtime, of, (reserved) =>
    write(runtime, workspaceId, {
      type: "resource.update",
      kind: kind.name,
      caller,
      client,
      id,
      version,
      fields,
      hidden,
      reserved,
    }),
  );
  return {
    status: 200,
    body: toBody(kind, runtime, caller, resource),
    headers: { etag: `"${resource.version}"` },
  };
}

/** Deletes a resource. */
export async function removeOne(
  kind: Kind,
  { runtime }: ResourceWriter,
  request: Request,
  { workspaceId, id }: VisibleResource,
): Promise<Answer> {
  const { caller, client } = request;
  granted(refuseWrite(runtime.reading, caller, { workspaceId, kind, action: "delete" }));
  const version = granted(ifMatchVersion(request.header("if-match")));
  await write(runtime, workspaceId, {
    type: "resource.delete",
    kind: kind.name,
    caller,
    client,
    id,
    version,
  });
  return { status: 204 };
}

function toBody(kind: Kind, { reading, clock }: Runtime, caller: Caller, resource: VisibleResource): unknown {
  return toLiveRepresentation(kind, resource, { reading, caller, nowMs: clock.now() });
}

/** Returns the scope of idempotency keys: one caller and one collection. */
function toScope(kind: Kind, caller: Caller, { teamId, station }: Holder): string {
  const who = caller.kind === "person" ? caller.userId : caller.tokenId;
  const where = station === undefined ? (teamId ?? "") : `${station.lineId} ${station.stationKey}`;
  return `${who} ${kind.name} ${where}`;
}

/** Finds the holder of a new resource. Throws {@link Refused} if the caller may not create a resource there. */
function toHolder(kind: Kind, { runtime }: ResourceWriter, { caller, params }: Request): Holder {
  if (kind.heldBy === "none") {
    if (caller.kind === "token") throw new Refused(forbid("open-workspaces", kind.name));
    // A workspace has no holder. Its id is assigned together with its slug.
    return { workspaceId: "", teamId: null };
  }
  const holder = granted(findHolder(kind, runtime.reading, caller, params));
  const { workspaceId } = holder;
  granted(refuseWrite(runtime.reading, caller, { workspaceId, kind, action: "create" }));
  return holder;
}

async function write(runtime: Runtime, workspaceId: string, message: ResourceMessage): Promise<WriteResult> {
  return granted(await runtime.ask(workspaceRef(workspaceId), message));
}
