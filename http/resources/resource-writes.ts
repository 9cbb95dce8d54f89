import { forbid, permit } from "../../actors/access/visibility.js";
import { refuseWrite } from "../../actors/access/write-permission.js";
import type { Caller } from "../../actors/caller.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { canonicalJson } from "../../actors/resources/canonical-json.js";
import type { Kind } from "../../actors/resources/kind.js";
import { toRepresentation } from "../../actors/resources/representation.js";
import type { ResourceMessage, WriteResult } from "../../actors/resources/resource.messages.js";
import type { Sealer } from "../../actors/sealer.js";
import { openWorkspace } from "../../actors/workspaces/open-workspace.js";
import { address } from "../../runtime/address.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { Answer, RouteRequest } from "../route.js";
import { idempotencyKey, ifMatchVersion } from "../transport/headers.js";
import { prepare } from "./prepare.js";
import { readingBack } from "./read-back.js";
import { findRow, type Holder, namedHolder } from "./resource-reads.js";

/** What writes are made through. */
export interface ResourceWriter {
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

type Request = RouteRequest<"any", unknown, unknown>;

export async function createOne(kind: Kind, writer: ResourceWriter, request: Request): Promise<Answer | Refusal> {
  const { runtime, sealer } = writer;
  const holder = holderOf(kind, writer, request);
  if (isRefusal(holder)) return holder;
  const key = idempotencyKey(request.header("idempotency-key"));
  if (typeof key !== "string") return key;
  const prepared = prepare(kind, request.body, sealer, () =>
    Buffer.from(runtime.randomBytes(32)).toString("base64url"),
  );
  if (isRefusal(prepared)) return prepared;
  const { revealed, fields, hidden } = prepared;
  const { caller, client } = request;
  const { workspaceId, ...place } = holder;
  const digest = sealer.digest(canonicalJson(request.body ?? null));
  const wanted = {
    ...{ kind: kind.name, caller, client, ...place, fields, hidden },
    idempotency: { scope: scopeOf(kind, caller, holder), key, digest },
  };
  const written =
    kind.heldBy === "none"
      ? await openWorkspace(runtime, wanted)
      : await write(runtime, workspaceId, { ...wanted, type: "resource.create" });
  if (isRefusal(written)) return written;
  const { resource, replayed } = written;
  // Who made a workspace may have left it since.
  if (replayed && permit(runtime.reading, caller, resource.workspaceId, "read", kind.name) !== null) {
    return { refused: "conflict", detail: `The ${kind.name} that this Idempotency-Key made is not yours any more.` };
  }
  return {
    status: 201,
    body: toRepresentation(kind, resource, runtime.reading),
    headers: {
      etag: `"${resource.version}"`,
      ...(replayed ? { "idempotent-replayed": "true" } : {}),
      ...(revealed === null || replayed ? {} : { [revealed.header]: revealed.value }),
    },
  };
}

export async function replaceOne(kind: Kind, writer: ResourceWriter, request: Request): Promise<Answer | Refusal> {
  const { runtime, sealer } = writer;
  const row = findRow(kind, runtime.reading, request);
  if (isRefusal(row)) return row;
  const refused = refuseWrite(runtime.reading, request.caller, {
    workspaceId: row.workspaceId,
    kind,
    action: "update",
  });
  if (refused !== null) return refused;
  const version = ifMatchVersion(request.header("if-match"));
  if (typeof version !== "number") return version;
  const based = { row, version, body: request.body };
  const prepared = readingBack(kind, based, (body) => prepare(kind, body, sealer, null));
  if (isRefusal(prepared)) return prepared;
  const { fields, hidden } = prepared;
  const { caller, client } = request;
  const written = await write(runtime, row.workspaceId, {
    ...{ type: "resource.update", kind: kind.name, caller, client, id: row.id, version, fields, hidden },
  });
  if (isRefusal(written)) return written;
  return {
    status: 200,
    body: toRepresentation(kind, written.resource, runtime.reading),
    headers: { etag: `"${written.resource.version}"` },
  };
}

export async function removeOne(kind: Kind, { runtime }: ResourceWriter, request: Request): Promise<Answer | Refusal> {
  const row = findRow(kind, runtime.reading, request);
  if (isRefusal(row)) return row;
  const { caller, client } = request;
  const refused = refuseWrite(runtime.reading, caller, { workspaceId: row.workspaceId, kind, action: "delete" });
  if (refused !== null) return refused;
  const version = ifMatchVersion(request.header("if-match"));
  if (typeof version !== "number") return version;
  const written = await write(runtime, row.workspaceId, {
    ...{ type: "resource.delete", kind: kind.name, caller, client, id: row.id, version },
  });
  return isRefusal(written) ? written : { status: 204 };
}

/** Keys of one caller on one collection do not meet those of another. */
function scopeOf(kind: Kind, caller: Caller, { teamId, station }: Holder): string {
  const who = caller.kind === "person" ? caller.userId : caller.tokenId;
  const where = station === undefined ? (teamId ?? "") : `${station.lineId} ${station.stationKey}`;
  return `${who} ${kind.name} ${where}`;
}

/** Where a create goes, once the caller may make one there. */
function holderOf(kind: Kind, { runtime }: ResourceWriter, request: Request): Holder | Refusal {
  if (kind.heldBy === "none") {
    if (request.caller.kind === "token") return forbid("open-workspaces", kind.name);
    // A workspace has no holder, and gets its id with its slug.
    return { workspaceId: "", teamId: null };
  }
  const holder = namedHolder(kind, runtime.reading, request);
  if (isRefusal(holder)) return holder;
  const { workspaceId } = holder;
  return refuseWrite(runtime.reading, request.caller, { workspaceId, kind, action: "create" }) ?? holder;
}

async function write(runtime: Runtime, workspaceId: string, message: ResourceMessage): Promise<WriteResult | Refusal> {
  return (await runtime.ask(address(workspaceId, "workspace", workspaceId), message)) as WriteResult | Refusal;
}
