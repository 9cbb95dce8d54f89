import type { Reading } from "../../../storage/store.js";
import { DYN } from "../../expressions/cel-types.js";
import type { Names } from "../../expressions/evaluate.js";
import { integrationNames } from "../../expressions/positions.js";
import { needsField, readsName } from "../../expressions/reads-name.js";
import { isTemplate } from "../../expressions/templates.js";
import { toValue, type Value } from "../../expressions/values.js";
import { parseJson } from "../../outbound/http/json-answer.js";
import { findBlob } from "../../tables/blobs.js";
import type { ReadBodies } from "../read-bodies.js";
import { readReceivedBody } from "../received-body.js";
import type { FoundRequest } from "./find-request.js";
import type { IntegrationRequestInput } from "./integration-request.js";

/** Maximum length of the values' text, in bytes. */
const MAX_VALUES_BYTES = 1024 * 1024;

/** The dependencies of {@link toNames}. */
export interface NamesScope {
  readonly reading: Reading;
  readonly workspaceId: string;
  readonly baseUrl: string;
  /** The cache of parsed delivery bodies; without it, each body is parsed again. */
  readonly bodies?: ReadBodies | undefined;
}

/** Returns the names that the request's expressions see; null if the values are not an object, or too large. */
export function toNames(
  { baseUrl, ...scope }: NamesScope,
  { found, input }: { readonly found: FoundRequest; readonly input: IntegrationRequestInput },
): Names | null {
  if (Buffer.byteLength(input.values) > MAX_VALUES_BYTES) return null;
  const values = parseJson(input.values);
  if (typeof values !== "object" || values === null || Array.isArray(values)) return null;
  const names = Object.entries(values).map(([name, value]): [string, Value] => [
    name,
    toValue(value, integrationNames[name] ?? DYN),
  ]);
  const bodyDigest = input.bodyDigest ?? null;
  const headers = "headers" in values ? values.headers : null;
  const all = { ...readBody(scope, { found, bodyDigest, headers }), ...Object.fromEntries(names) };
  return "ask" in values ? { ...all, ask: toAsk(values.ask, baseUrl, input.asking ?? null) } : all;
}

/** Returns the task's question. If `asking` is given, adds the address where users answer the question. */
function toAsk(ask: unknown, baseUrl: string, asking: IntegrationRequestInput["asking"]): Value {
  const type = integrationNames.ask ?? DYN;
  if (asking === null || asking === undefined || typeof ask !== "object" || ask === null) return toValue(ask, type);
  const link = `${baseUrl}/api/tasks/${asking.taskId}`;
  const body = "body" in ask && asking.isApproval ? { body: `${String(ask.body)}\n\n${link}` } : {};
  return toValue({ ...ask, ...body, link }, type);
}

/**
 * Reads the body that the input refers to. `body` is the parsed body, as the delivery's own expressions see it. `raw`
 * is the body's text. Includes `body` or `raw` only if an expression may use that name. The parameter `headers` has the
 * delivery's headers.
 */
function readBody(
  { reading, workspaceId, bodies }: Omit<NamesScope, "baseUrl">,
  {
    found,
    bodyDigest,
    headers,
  }: { readonly found: FoundRequest; readonly bodyDigest: string | null; readonly headers: unknown },
): Names {
  if (bodyDigest === null) return {};
  const { integration: _integration, ...rest } = found;
  const [body, raw] = [mayRead(rest, "body"), mayRead(rest, "raw")];
  if (!body && !raw) return {};
  const bytes = findBlob(reading, workspaceId, bodyDigest) ?? new Uint8Array();
  const contentType = findContentType(headers);
  const stored = { workspaceId, digest: bodyDigest, bytes, contentType };
  const read = bodies?.read(stored) ?? readReceivedBody(bytes, contentType);
  return { ...(body ? { body: read.body } : {}), ...(raw ? { raw: read.raw } : {}) };
}

/** Estimated memory per byte of JSON text of a parsed value. */
const BYTES_OF_A_BYTE = 8;

/** Estimates the memory of the body that these names include, in bytes. */
export function bytesOfBody(
  reading: Reading,
  workspaceId: string,
  { names, bodyDigest = null }: { readonly names: Names; readonly bodyDigest?: string | null | undefined },
): number {
  if (bodyDigest === null || (names.body === undefined && names.raw === undefined)) return 0;
  return (findBlob(reading, workspaceId, bodyDigest)?.length ?? 0) * BYTES_OF_A_BYTE;
}

function findContentType(headers: unknown): string | undefined {
  if (typeof headers !== "object" || headers === null || !("content-type" in headers)) return undefined;
  return String(headers["content-type"]);
}

/** Returns whether an expression of the request writes the token itself. */
export function writesToken({ request }: FoundRequest): boolean {
  return anyText(request, (text) => readsName(text, "connection"));
}

/** Returns whether the request cannot be evaluated if `target` lacks this field. */
export function needsTarget({ url, query, headers, body }: FoundRequest["request"], field: string): boolean {
  return anyText([url, query, headers, body], (text) => needsField(text, { name: "target", field }));
}

/** Returns whether an expression in these parts may use a name, because its text contains the name. */
function mayRead(parts: unknown, name: string): boolean {
  return anyText(parts, (text) => isTemplate(text) && text.includes(name));
}

function anyText(parts: unknown, holds: (text: string) => boolean): boolean {
  if (typeof parts === "string") return holds(parts);
  return typeof parts === "object" && parts !== null && Object.values(parts).some((part) => anyText(part, holds));
}
