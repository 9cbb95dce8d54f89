import type { Reading } from "../../../storage/store.js";
import { DYN } from "../../expressions/cel-types.js";
import type { Names } from "../../expressions/evaluate.js";
import { integrationNames } from "../../expressions/positions.js";
import { isTemplate } from "../../expressions/templates.js";
import { toValue, type Value } from "../../expressions/values.js";
import { parseJson } from "../../outbound/json-answer.js";
import { findBlob } from "../../tables/blobs.js";
import type { FoundRequest } from "./find-request.js";
import type { IntegrationRequestInput } from "./integration-request.js";

/** Longest text of values, in bytes. */
const MAX_VALUES_BYTES = 1024 * 1024;

/** What of the service the values depend on. */
export interface NamesScope {
  readonly reading: Reading;
  readonly workspaceId: string;
  readonly baseUrl: string;
}

/** What the expressions of the request see; null when the values are no object, or too many. */
export function toNames(
  { reading, workspaceId, baseUrl }: NamesScope,
  { found, input }: { readonly found: FoundRequest; readonly input: IntegrationRequestInput },
): Names | null {
  if (Buffer.byteLength(input.values) > MAX_VALUES_BYTES) return null;
  const values = parseJson(input.values);
  if (typeof values !== "object" || values === null || Array.isArray(values)) return null;
  const names = Object.entries(values).map(([name, value]): [string, Value] => [
    name,
    toValue(value, integrationNames[name] ?? DYN),
  ]);
  const all = { ...readBody(reading, workspaceId, { found, input }), ...Object.fromEntries(names) };
  return "ask" in values ? { ...all, ask: toAsk(values.ask, baseUrl, input.asking ?? null) } : all;
}

/** What the task asks, with the address where it is answered. */
function toAsk(ask: unknown, baseUrl: string, asking: IntegrationRequestInput["asking"]): Value {
  const type = integrationNames.ask ?? DYN;
  if (asking === null || asking === undefined || typeof ask !== "object" || ask === null) return toValue(ask, type);
  const link = `${baseUrl}/api/tasks/${asking.taskId}`;
  const body = "body" in ask && asking.isApproval ? { body: `${String(ask.body)}\n\n${link}` } : {};
  return toValue({ ...ask, ...body, link }, type);
}

/** The body that the input refers to, parsed and as text, each only where an expression may read it. */
function readBody(
  reading: Reading,
  workspaceId: string,
  { found, input: { bodyDigest = null } }: { readonly found: FoundRequest; readonly input: IntegrationRequestInput },
): Names {
  if (bodyDigest === null) return {};
  const { integration: _integration, ...rest } = found;
  const [body, raw] = [mayRead(rest, "body"), mayRead(rest, "raw")];
  if (!body && !raw) return {};
  const text = Buffer.from(findBlob(reading, workspaceId, bodyDigest) ?? "").toString();
  return {
    ...(body ? { body: toValue(parseJson(text) ?? null, DYN) } : {}),
    ...(raw ? { raw: text } : {}),
  };
}

/** Whether an expression of the request may write the token itself. */
export function writesToken({ request }: FoundRequest): boolean {
  return mayRead(request, "connection");
}

/** Whether an expression in these parts may read a name: its text names it. */
function mayRead(parts: unknown, name: string): boolean {
  if (typeof parts === "string") return isTemplate(parts) && parts.includes(name);
  return typeof parts === "object" && parts !== null && Object.values(parts).some((part) => mayRead(part, name));
}
