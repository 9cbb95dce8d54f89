import { z } from "zod";
import {
  findDeletable,
  findVisibleResource,
  findVisibleResourceAt,
  isSeenByAll,
  listPages,
  listVisibleResources,
  type VisibleResource,
} from "../../actors/access/visibility/resource.queries.js";
import type { Caller } from "../../actors/caller.js";
import { writeJson } from "../../actors/exact-json.js";
import type { AllowList } from "../../actors/outbound/http/allow-list.js";
import type { Kind } from "../../actors/resources/kind.js";
import type { CoverTrace } from "../../runtime/rows/covered-reading.js";
import { granted } from "../wire/refused.js";
import { type Answer, EXAMPLE_ULID, type Route, type RouteRequest, route, type Success } from "../wire/route.js";
import { type Subject, subjectRoute } from "../wire/subject-route.js";
import { findExampleBody } from "./kind-examples.js";
import { withArticle } from "./kind-name.js";
import { ListCache } from "./list-cache.js";
import { takeOut } from "./prepare.js";
import { representationSchema } from "./representation-schema.js";
import { createOne, type ResourceWriter, removeOne, replaceOne } from "./resource-writes.js";
import { type ResourceText, TextCache } from "./text-cache.js";

export interface ResourceRoutesOptions extends ResourceWriter {
  readonly kinds: readonly Kind[];
  /** Cached warnings depend on this list. */
  readonly allowList: Pick<AllowList, "onChange">;
}

const base = "/api/resources";
const anyBody = z.unknown();
const importQuery = z.strictObject({
  address: z.string().min(1, "is required").describe("The address, in the form of `address` in responses."),
});
const stationQuery = z.strictObject({
  station: z
    .string()
    .max(200, "must be at most 200 characters")
    .optional()
    .describe("The address of a station, `<team key>/<line key>/<station key>`: lists only its resources."),
});

/**
 * The operations of every kind, derived from the table of kinds (see "Endpoints" in the configuration API document).
 */
export function resourceRoutes(options: ResourceRoutesOptions): readonly Route[] {
  const { reading } = options.runtime;
  const caches = { lists: new ListCache(reading), texts: new TextCache(reading) };
  options.allowList.onChange?.(() => {
    caches.lists.clear();
    caches.texts.clear();
  });
  return options.kinds.flatMap((kind) =>
    listRoutes({ ...toParts(kind, options), ...caches }).map((made) => ({ ...made, tag: kind.name })),
  );
}

interface ResponseCaches {
  readonly lists: ListCache;
  readonly texts: TextCache;
}

function listRoutes(parts: KindParts & ResponseCaches): Route[] {
  const { kind } = parts;
  return [
    createRoute(parts),
    readRoute(parts),
    ...(kind.isNeverReplaced === true ? [] : [replaceRoute(parts)]),
    removeRoute(parts),
    importRoute(parts),
    listRoute(parts),
  ];
}

/** The parts that the routes of one kind share. */
interface KindParts {
  readonly kind: Kind;
  readonly writer: ResourceWriter;
  /** The kind's name in operation ids: `HarnessProfile`. */
  readonly named: string;
  /** The path of the collection that lists the kind. Below it, the path of one resource. */
  readonly all: string;
  readonly one: string;
  /** An example body that creates a resource. */
  readonly example: unknown;
  /**
   * Returns the declaration of a response that contains the resource. It is created on first use, because that is
   * expensive. `tagged` is the declaration of the response's ETag header.
   */
  readonly answer: () => Success & { readonly body: z.ZodType };
  readonly tagged: { readonly etag: string };
  readonly subject: Subject<VisibleResource>;
}

function toParts(kind: Kind, writer: ResourceWriter): KindParts {
  const { reading } = writer.runtime;
  const tagged = { etag: "The version as a strong entity tag, for use in `If-Match`." };
  let made: ReturnType<KindParts["answer"]> | null = null;
  return {
    kind,
    writer,
    tagged,
    example: toBodyExample(kind),
    named: kind.name.replace(/(^|-)([a-z])/g, (_, _dash: string, letter: string) => letter.toUpperCase()),
    one: `${base}/${kind.plural}/{id}`,
    all: kind.heldBy === "none" ? `${base}/workspaces` : `${base}/workspaces/{workspaceId}/${kind.plural}`,
    answer: () => {
      made ??= { body: representationSchema(kind), headers: tagged, example: toRepresentationExample(kind) };
      return made;
    },
    subject: { find: ({ caller, params }) => findVisibleResource(kind, reading, caller, params.id ?? "") },
  };
}

function createRoute({ kind, writer, named, all, example, answer, tagged }: KindParts): Route {
  return route({
    method: "POST",
    path: collectionIn(kind) ?? all,
    listedAt: all,
    summary: `Create ${withArticle(kind)}`,
    description: describeCreate(kind),
    operation: `create${named}`,
    access: "any",
    body: anyBody,
    takes: kind.schema,
    writeOnly: kind.hidden.map(({ path }) => path),
    example,
    headers: { "idempotency-key": "required" },
    answers: () => ({ 201: { ...answer(), headers: { ...tagged, ...createdHeaders(kind) } } }),
    handle: (request) => createOne(kind, writer, request),
  });
}

function readRoute({ kind, writer, texts, named, one, answer, subject }: KindParts & ResponseCaches): Route {
  return subjectRoute(subject, {
    method: "GET",
    path: one,
    summary: `Read ${withArticle(kind)}`,
    description: `Requires the permission \`read\`${seen(kind)}. Any other caller gets 404, as if the ${kind.name} did not exist.`,
    operation: `read${named}`,
    access: "any",
    answers: () => ({ 200: answer() }),
    handle: ({ caller }, row) => show({ kind, writer, texts }, row, caller),
  });
}

function replaceRoute({ kind, writer, named, one, example, answer, subject }: KindParts): Route {
  return subjectRoute(subject, {
    method: "PUT",
    path: one,
    summary: `Replace ${withArticle(kind)}`,
    description:
      `Requires the permission \`${kind.permission}\`. A body that changes nothing keeps the version. Read-only ` +
      "fields are accepted if they have the values that a read returned; `warnings` and the health of a hook are ignored.",
    operation: `replace${named}`,
    access: "any",
    body: anyBody,
    takes: kind.schema,
    writeOnly: kind.hidden.map(({ path }) => path),
    example,
    headers: { "if-match": "required" },
    answers: () => ({ 200: answer() }),
    handle: (request, row) => replaceOne(kind, writer, request, row),
  });
}

function removeRoute({ kind, writer, named, one }: KindParts): Route {
  const { reading } = writer.runtime;
  const deletable: Subject<VisibleResource> = {
    find: ({ caller, params }) => findDeletable(kind, reading, caller, params.id ?? ""),
  };
  return subjectRoute(deletable, {
    method: "DELETE",
    path: one,
    summary: kind.name === "workspace" ? "Close a workspace" : `Delete ${withArticle(kind)}`,
    description:
      kind.name === "workspace"
        ? "Requires the permission `administer`. The workspace and everything in it become unreachable, its runs are " +
          "withdrawn, and its slug stays taken."
        : `Requires the permission \`${kind.permission}\`. Responds with 409 \`in-use\` while another resource or a ` +
          "task uses it.",
    operation: `delete${named}`,
    access: "any",
    headers: { "if-match": "required" },
    answers: { 204: null },
    handle: (request, row) => removeOne(kind, writer, request, row),
  });
}

function importRoute({ kind, writer, texts, named, all, answer }: KindParts & ResponseCaches): Route {
  const { reading } = writer.runtime;
  return route({
    method: "GET",
    path: `${all}/import`,
    summary: `Read the ${kind.name} at an address`,
    description:
      `Finds the ${kind.name} by its address instead of its id, for example to import existing configuration into an ` +
      "infrastructure-as-code tool.",
    operation: `import${named}`,
    access: "any",
    query: importQuery,
    answers: () => ({ 200: answer() }),
    problems: kind.heldBy === "station" ? ["not-found", "invalid"] : ["not-found"],
    handle: ({ caller, params, query }) => {
      const name = { workspaceId: params.workspaceId, address: query.address };
      return show({ kind, writer, texts }, granted(findVisibleResourceAt(kind, reading, caller, name)), caller);
    },
  });
}

function listRoute({ kind, writer, named, all, answer, lists, texts }: KindParts & ResponseCaches): Route {
  const { reading } = writer.runtime;
  const whole = `${kind.name} `;
  return route({
    method: "GET",
    path: all,
    summary: `List every ${kind.name}`,
    description: `Returns every ${kind.name} that the caller can see in one response, without pages.`,
    operation: `list${named}`,
    access: "any",
    ...(kind.heldBy === "station" ? { query: stationQuery, problems: ["invalid"] } : {}),
    answers: () => {
      const { body, example } = answer();
      return {
        200: {
          body: z.strictObject({
            items: z.array(body).describe(`All resources of the kind ${kind.name} that the caller can see.`),
          }),
          example: { items: [example] },
        },
      };
    },
    handle: (request) => {
      const { caller, params, query } = request;
      const listing = { workspaceId: params.workspaceId ?? "", station: query?.station };
      const pages = granted(listVisibleResources(kind, reading, caller, listing));
      const write = (rows: Iterable<readonly VisibleResource[]>, trace?: CoverTrace) =>
        writeItems(rows, request, (row) =>
          withLiveFields({ kind, writer }, texts.find(row) ?? texts.make(kind, row, trace), row, caller),
        );
      // A list with live fields is not cached, but the texts of its resources are.
      if (!isSeenByAll(kind) || kind.live !== undefined) return write(pages).then(listed);
      const name = listing.station === undefined ? whole : whole + listing.station;
      const caches = lists.find(listing.workspaceId, name);
      if (caches !== undefined) return listed(caches);
      const make = (trace: CoverTrace) => write(listPages(kind, trace, listing), trace);
      return lists.make(listing.workspaceId, name, make).then(listed);
    },
  });
}

const listed = (json: Uint8Array): Answer => ({ status: 200, json });

/** Number of listed resources to encode between pauses: about 0.1 ms of work. */
const WRITTEN_AT_ONCE = 50;

/** Encodes a list of all rows. Other work runs in between. */
async function writeItems(
  pages: Iterable<readonly VisibleResource[]>,
  { pause }: Pick<RouteRequest, "pause">,
  toText: (row: VisibleResource) => string,
): Promise<Uint8Array> {
  const pieces: string[] = [];
  let piece: string[] = [];
  const endPiece = () => {
    if (piece.length > 0) pieces.push(piece.join(","));
    piece = [];
  };
  for (const rows of pages) {
    for (const row of rows) {
      if (piece.length === WRITTEN_AT_ONCE) {
        endPiece();
        await pause();
      }
      piece.push(toText(row));
    }
  }
  endPiece();
  return Buffer.from(`{"items":[${pieces.join(",")}]}`);
}

function show(
  { kind, writer, texts }: Pick<KindParts & ResponseCaches, "kind" | "writer" | "texts">,
  row: VisibleResource,
  caller: Caller,
): Answer {
  const text = texts.find(row) ?? texts.make(kind, row);
  return { status: 200, json: withLiveFields({ kind, writer }, text, row, caller), headers: text.headers };
}

/** Returns the JSON text of a resource with its kind's live fields. The cached text does not have them. */
function withLiveFields(
  { kind: { live }, writer: { runtime } }: Pick<KindParts, "kind" | "writer">,
  { json }: ResourceText,
  row: VisibleResource,
  caller: Caller,
): string {
  if (live === undefined) return json;
  const fields = live.read({ reading: runtime.reading, row, caller, nowMs: runtime.clock.now() });
  return `${json.slice(0, -1)},${writeJson(fields).slice(1)}`;
}

function describeCreate({ name, permission, heldBy, peopleOnly, reveals }: Kind): string {
  const needed = heldBy === "none" ? "open-workspaces" : permission;
  return [
    `Requires the permission \`${needed}\`${peopleOnly === true || heldBy === "none" ? " and a signed-in person" : ""}.`,
    "Responds with 409 `already-exists` if the address is taken.",
    ...(reveals === undefined
      ? []
      : [`The header \`${reveals.header}\` returns the value issued for the ${name} once.`]),
  ].join(" ");
}

/** Describes what a caller needs to read the kind, besides the permission `read`. */
function seen({ seenBy }: Kind): string {
  return seenBy === "outcomes" ? " and access to the outcomes of its team" : "";
}

/**
 * Returns the path at which resources of the kind are created; null if they are created at the path that lists them.
 */
function collectionIn({ heldBy, plural }: Kind): string | null {
  if (heldBy === "team") return `${base}/teams/{teamId}/${plural}`;
  return heldBy === "station" ? `${base}/lines/{lineId}/stations/{stationKey}/${plural}` : null;
}

/** The headers of a create response, besides the ETag. */
function createdHeaders({ reveals, name }: Kind): Record<string, string> {
  return {
    "idempotent-replayed": "`true` when an earlier request with the same key created it.",
    ...(reveals === undefined ? {} : { [reveals.header]: `The value issued for the ${name}. Returned once.` }),
  };
}

/** The holder's address in the example addresses of resources, by type of holder. */
const holderAddress = { none: "", workspace: "acme", team: "core", station: "core/dev/work" } as const;

/**
 * Returns an example body that creates a resource of the kind, for the documentation. Undefined if the documentation
 * should derive one from the schema.
 */
function toBodyExample(kind: Kind): unknown {
  return findExampleBody(kind.name)?.(1);
}

/**
 * Returns the resource that the example body creates, as responses contain it, without the fields that the kind adds.
 * Undefined if there is no example body.
 */
function toRepresentationExample(kind: Kind): unknown {
  const body = toBodyExample(kind);
  if (body === undefined) return undefined;
  const parsed = kind.schema.safeParse(body);
  if (!parsed.success) throw new Error(`the example of a ${kind.name} is not one: ${parsed.error.message}`);
  const fields = kind.hidden.reduce((rest, { path }) => takeOut(rest, path.split(".")).rest, parsed.data);
  return {
    id: `${kind.idPrefix}_${EXAMPLE_ULID}`,
    version: 1,
    address: kind.address(parsed.data, holderAddress[kind.heldBy]),
    ...fields,
    warnings: [],
  };
}
