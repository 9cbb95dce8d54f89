import { isDeepStrictEqual } from "node:util";
import { isRefusal, type Refusal } from "../refusal.js";
import type { Kind } from "./kind.js";
import { readOnlyFields } from "./representation.js";
import type { ResourceRow } from "./resource.table.js";

/**
 * Lets a client write back the whole representation that it read, with some fields changed. Read-only fields must equal
 * those of the resource; otherwise the write is refused. `warnings` and live fields are ignored. `version` is the
 * version that the write is based on.
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
