import { z } from "zod";
import type { Caller } from "../../actors/access/caller.js";
import { forbid, permissionsIn, permit } from "../../actors/access/visibility.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import { canonicalJson } from "../../actors/resources/canonical-json.js";
import type { Kind } from "../../actors/resources/kind.js";
import type { ResourceMessage, Written } from "../../actors/resources/messages.js";
import { placeOf } from "../../actors/resources/place.js";
import { represent } from "../../actors/resources/representation.js";
import { type ResourceRow, resourceAt, resourceById, resourcesOf } from "../../actors/resources/resource-rows.js";
import { workspacesOf } from "../../actors/workspaces/members.js";
import type { Sealer } from "../../actors/workspaces/secret-value.js";
import { workspaceOfSlug } from "../../actors/workspaces/workspace.machine.js";
import { address } from "../../runtime/address.js";
import type { Runtime } from "../../runtime/runtime.js";
import { idempotencyKey, ifMatchVersion } from "../headers.js";
import { type Answer, type Route, type RouteRequest, route, type Success } from "../route.js";
import { prepare } from "./prepare.js";
import { exampleOf } from "./resource-example.js";
import { representationSchema } from "./shown-schema.js";

export interface ResourceRoutesOptions {
  readonly kinds: readonly Kind[];
  readonly runtime: Runtime;
  readonly sealer: Sealer;
}

type Request = RouteRequest<"any", unknown, unknown>;

const base = "/api/resources";
const anyBody = z.unknown();
const importQuery = z.strictObject({ address: z.string().min(1, "is required") });

/** The six operations of every kind, made from the table of kinds (configuration API, Endpoints). */
export function resourceRoutes(options: ResourceRoutesOptions): readonly Route[] {
  return options.kinds.flatMap((kind) => routesOf(kind, options).map((made) => ({ ...made, tag: kind.name })));
}

function routesOf(kind: Kind, options: ResourceRoutesOptions): Route[] {
  const { reading } = options.runtime;
  const shown = representationSchema(kind);
  const tagged = { etag: "The version as a strong entity tag: what `If-Match` takes." };
  const example = exampleOf(kind);
  const answer: Success = { body: shown, headers: tagged, example: example.shown };
  const named = kind.name.replace(/(^|-)([a-z])/g, (_, _dash: string, letter: string) => letter.toUpperCase());
  const one = `${base}/${kind.plural}/{id}`;
  const all = kind.heldBy === "none" ? `${base}/workspaces` : `${base}/workspaces/{workspaceId}/${kind.plural}`;
  const created = kind.heldBy === "team" ? `${base}/teams/{teamId}/${kind.plural}` : all;
  const show = (row: ResourceRow): Answer => ({
    status: 200,
    body: represent(kind, row, reading),
    headers: { etag: `"${row.version}"` },
  });
  return [
    route({
      method: "POST",
      path: created,
      summary: `Create a ${kind.name}`,
      operation: `create${named}`,
      access: "any",
      body: anyBody,
      takes: kind.schema,
      example: example.body,
      headers: { "idempotency-key": "required" },
      answers: { 201: { ...answer, headers: { ...tagged, ...createdHeaders(kind) } } },
      handle: (request) => create(kind, options, request),
    }),
    route({
      method: "GET",
      path: one,
      summary: `Read a ${kind.name}`,
      operation: `read${named}`,
      access: "any",
      answers: { 200: answer },
      handle: (request) => {
        const row = findRow(kind, options, request);
        return isRefusal(row) ? row : show(row);
      },
    }),
    route({
      method: "PUT",
      path: one,
      summary: `Replace a ${kind.name}`,
      operation: `replace${named}`,
      access: "any",
      body: anyBody,
      takes: kind.schema,
      example: example.body,
      headers: { "if-match": "required" },
      answers: { 200: answer },
      handle: (request) => update(kind, options, request),
    }),
    route({
      method: "DELETE",
      path: one,
      summary: kind.name === "workspace" ? "Close a workspace" : `Delete a ${kind.name}`,
      operation: `delete${named}`,
      access: "any",
      headers: { "if-match": "required" },
      answers: { 204: null },
      handle: (request) => remove(kind, options, request),
    }),
    route({
      method: "GET",
      path: `${all}/import`,
      summary: `Read the ${kind.name} at an address`,
      operation: `import${named}`,
      access: "any",
      query: importQuery,
      answers: { 200: answer },
      problems: ["not-found"],
      handle: (request) => {
        const workspaceId = importedFrom(kind, options, request, request.query.address);
        if (isRefusal(workspaceId)) return workspaceId;
        const row = resourceAt(reading, workspaceId, kind.name, request.query.address);
        return row === undefined ? { refused: "not-found" } : show(row);
      },
    }),
    route({
      method: "GET",
      path: all,
      summary: `List every ${kind.name}`,
      operation: `list${named}`,
      access: "any",
      answers: { 200: { body: z.strictObject({ items: z.array(shown) }), example: { items: [example.shown] } } },
      handle: (request) => {
        const rows =
          kind.heldBy === "none" ? visibleWorkspaces(options, request.caller) : listed(kind, options, request);
        if (isRefusal(rows)) return rows;
        return { status: 200, body: { items: rows.map((row) => represent(kind, row, reading)) } };
      },
    }),
  ];
}

/** What a create's answer may carry beyond its ETag. */
function createdHeaders({ reveals, name }: Kind): Record<string, string> {
  return {
    "idempotent-replayed": "`true` when an earlier request with the same key created it.",
    ...(reveals === undefined ? {} : { [reveals.header]: `The value that was issued for the ${name}. Shown once.` }),
  };
}

/** The row behind `{id}`, as far as the caller may see it. */
function findRow(kind: Kind, options: ResourceRoutesOptions, request: Request): ResourceRow | Refusal {
  const { reading } = options.runtime;
  const id = request.params.id ?? "";
  const place = placeOf(reading, id);
  if (place === undefined || place.kind !== kind.name) return { refused: "not-found" };
  const refused = permit(reading, request.caller, place.workspaceId, "read", kind.name);
  if (refused !== null) return refused;
  return resourceById(reading, place.workspaceId, kind.name, id) ?? { refused: "not-found" };
}

/** Whether the caller may write the kind there: null when they may. */
function mayWrite(
  kind: Kind,
  options: ResourceRoutesOptions,
  caller: Caller,
  workspaceId: string,
  closing: boolean,
): Refusal | null {
  const permission = closing ? "administer" : kind.permission;
  const refused = permit(options.runtime.reading, caller, workspaceId, permission, kind.name);
  if (refused !== null) return refused;
  return kind.peopleOnly === true && caller.kind === "token" ? forbid(permission, kind.name) : null;
}

async function create(kind: Kind, options: ResourceRoutesOptions, request: Request): Promise<Answer | Refusal> {
  const holder = holderOf(kind, options, request);
  if (isRefusal(holder)) return holder;
  const key = idempotencyKey(request.header("idempotency-key"));
  if (typeof key !== "string") return key;
  const prepared = prepare(kind, request.body, options.sealer, () =>
    Buffer.from(options.runtime.randomBytes(32)).toString("base64url"),
  );
  if (isRefusal(prepared)) return prepared;
  const { revealed, fields, hidden } = prepared;
  const caller = request.caller;
  const who = caller.kind === "person" ? caller.userId : caller.tokenId;
  const written = await write(options, holder.workspaceId, {
    type: "resource.create",
    kind: kind.name,
    caller,
    client: request.client,
    teamId: holder.teamId,
    fields,
    hidden,
    idempotency: {
      scope: `${who} ${kind.name} ${holder.teamId ?? ""}`,
      key,
      digest: options.sealer.digest(canonicalJson(request.body ?? null)),
    },
  });
  if (isRefusal(written)) return written;
  const { resource, replayed } = written;
  return {
    status: 201,
    body: represent(kind, resource, options.runtime.reading),
    headers: {
      etag: `"${resource.version}"`,
      ...(replayed ? { "idempotent-replayed": "true" } : {}),
      ...(revealed === null || replayed ? {} : { [revealed.header]: revealed.value }),
    },
  };
}

/** Where a create goes, once the caller may make one there. */
function holderOf(
  kind: Kind,
  options: ResourceRoutesOptions,
  request: Request,
): { readonly workspaceId: string; readonly teamId: string | null } | Refusal {
  const { caller, params } = request;
  if (kind.heldBy === "none") {
    if (caller.kind === "token") return forbid("open-workspaces", kind.name);
    return { workspaceId: options.runtime.newId(kind.idPrefix), teamId: null };
  }
  const teamId = kind.heldBy === "team" ? (params.teamId ?? "") : null;
  const place = teamId === null ? undefined : placeOf(options.runtime.reading, teamId);
  if (teamId !== null && place?.kind !== "team") return { refused: "not-found" };
  const workspaceId = place?.workspaceId ?? params.workspaceId ?? "";
  return mayWrite(kind, options, caller, workspaceId, false) ?? { workspaceId, teamId };
}

async function update(kind: Kind, options: ResourceRoutesOptions, request: Request): Promise<Answer | Refusal> {
  const row = findRow(kind, options, request);
  if (isRefusal(row)) return row;
  const refused = mayWrite(kind, options, request.caller, row.workspaceId, false);
  if (refused !== null) return refused;
  const version = ifMatchVersion(request.header("if-match"));
  if (typeof version !== "number") return version;
  const prepared = prepare(kind, request.body, options.sealer, null);
  if (isRefusal(prepared)) return prepared;
  const { fields, hidden } = prepared;
  const { caller, client } = request;
  const written = await write(options, row.workspaceId, {
    type: "resource.update",
    kind: kind.name,
    caller,
    client,
    id: row.id,
    version,
    fields,
    hidden,
  });
  if (isRefusal(written)) return written;
  return {
    status: 200,
    body: represent(kind, written.resource, options.runtime.reading),
    headers: { etag: `"${written.resource.version}"` },
  };
}

async function remove(kind: Kind, options: ResourceRoutesOptions, request: Request): Promise<Answer | Refusal> {
  const row = findRow(kind, options, request);
  if (isRefusal(row)) return row;
  const refused = mayWrite(kind, options, request.caller, row.workspaceId, kind.name === "workspace");
  if (refused !== null) return refused;
  const version = ifMatchVersion(request.header("if-match"));
  if (typeof version !== "number") return version;
  const { caller, client } = request;
  const message = { type: "resource.delete", kind: kind.name, caller, client, id: row.id, version } as const;
  const written = await write(options, row.workspaceId, message);
  return isRefusal(written) ? written : { status: 204 };
}

async function write(
  { runtime }: ResourceRoutesOptions,
  workspaceId: string,
  message: ResourceMessage,
): Promise<Written | Refusal> {
  return (await runtime.ask(address(workspaceId, "workspace", workspaceId), message)) as Written | Refusal;
}

function importedFrom(
  kind: Kind,
  { runtime }: ResourceRoutesOptions,
  { caller, params }: Request,
  at: string,
): string | Refusal {
  const workspaceId = kind.heldBy === "none" ? workspaceOfSlug(runtime.reading, at) : params.workspaceId;
  if (workspaceId === undefined) return { refused: "not-found" };
  return permit(runtime.reading, caller, workspaceId, "read", kind.name) ?? workspaceId;
}

function listed(kind: Kind, { runtime }: ResourceRoutesOptions, { caller, params }: Request): ResourceRow[] | Refusal {
  const workspaceId = params.workspaceId ?? "";
  return (
    permit(runtime.reading, caller, workspaceId, "read", kind.name) ??
    resourcesOf(runtime.reading, workspaceId, kind.name)
  );
}

function visibleWorkspaces({ runtime }: ResourceRoutesOptions, caller: Caller): ResourceRow[] {
  const { reading } = runtime;
  const ids =
    caller.kind === "token"
      ? [caller.workspaceId].filter((id) => permissionsIn(reading, caller, id).length > 0)
      : workspacesOf(reading, caller.userId).map((membership) => membership.id);
  return ids.flatMap((id) => resourceById(reading, id, "workspace", id) ?? []);
}
