import { isDeepStrictEqual } from "node:util";
import { isRefusal, type Refusal } from "../refusal.js";
import type { Kind } from "./kind.js";
import { readOnlyFields } from "./representation.js";
import type { ResourceRow } from "./resource.table.js";

/**
 * Prepares a body in which a client may write back the complete representation that it read, with some fields changed.
 * Removes from the body the read-only fields that equal those of the resource, `warnings`, and live fields. Refuses
 * read-only fields with other values. `version` is the version that the write is based on.
 */
export function readingBack<Prepared extends object>(
  kind: Kind,
  based: { readonly row: ResourceRow; readonly version: number; readonly body: unknown },
  prepare: (body: unknown) => Prepared | Refusal,
): Prepared | Refusal {
  const { row, version, body } = based;
  if (typeof body !== "object" || body === null || Array.isArray(body)) return prepare(body);
  const readOnly = new Map(Object.entries({ ...readOnlyFields(kind, row), version }));
  const isRead = ([name, value]: [string, unknown]) =>
    name === "warnings" || isLive(kind, name) || (readOnly.has(name) && isDeepStrictEqual(readOnly.get(name), value));
  const prepared = prepare(Object.fromEntries(Object.entries(body).filter((member) => !isRead(member))));
  if (!isRefusal(prepared) || prepared.refused !== "invalid") return prepared;
  const errors = prepared.errors.map((error) =>
    readOnly.has(error.path) ? { ...error, message: "is read-only" } : error,
  );
  return { refused: "invalid", errors };
}

function isLive({ live }: Kind, name: string): boolean {
  return live !== undefined && Object.hasOwn(live.schemas, name);
}
