import type { VisibleResource } from "../../actors/access/visibility/resource.queries.js";
import type { Refusal } from "../../actors/refusal.js";
import type { Kind } from "../../actors/resources/kind.js";
import type { PreparedBody } from "../../actors/resources/resource.messages.js";
import { type Sealer, sha256Hex } from "../../actors/sealer.js";
import { parseBy } from "../wire/field-errors.js";

/** A body for the workspace actor. If the service issued a value for one of its fields, `revealed` is that value. */
export interface Prepared extends PreparedBody {
  readonly revealed: { readonly header: string; readonly value: string } | null;
}

/**
 * Parses a body by its kind's schema. Returns a refusal if the body is invalid. Secret fields move to `hidden`, sealed
 * or hashed. If the service issues the value of a field, `makeToken` generates that value, and it is returned as
 * `revealed`. On an update, `makeToken` is null.
 */
export function prepare(
  kind: Kind,
  body: unknown,
  sealer: Sealer,
  makeToken: (() => string) | null,
): Prepared | Refusal {
  const tooMuch = kind.findSizeErrors?.(body) ?? [];
  if (tooMuch.length > 0) return { refused: "invalid", errors: tooMuch };
  const parsed = parseBy(kind.schema, body);
  if ("errors" in parsed) return { refused: "invalid", errors: parsed.errors };
  const hidden: Record<string, string> = {};
  let fields: Record<string, unknown> = parsed.data;
  for (const { path, keep } of kind.hidden) {
    const taken = takeOut(fields, path.split("."));
    fields = taken.rest;
    if (typeof taken.value === "string") {
      hidden[path] = keep === "sealed" ? sealer.seal(taken.value) : sha256Hex(taken.value);
    }
  }
  const { reveals } = kind;
  if (reveals === undefined || makeToken === null || hidden[reveals.path] !== undefined || !reveals.when(fields)) {
    return { fields, hidden, revealed: null };
  }
  const value = makeToken();
  hidden[reveals.path] = sha256Hex(value);
  return { fields, hidden, revealed: { header: reveals.header, value } };
}

/**
 * Returns the hidden values of an update, without those that equal the stored value. Leaves out only fields whose kind
 * declares `isRepeated`.
 */
export function withoutRepeated(
  kind: Kind,
  { fields, hidden }: PreparedBody,
  row: VisibleResource,
  sealer: Pick<Sealer, "open">,
): Readonly<Record<string, string>> {
  const repeated = kind.hidden.filter(({ path, isRepeated }) => {
    const [given, before] = [hidden[path], row.hidden[path]];
    if (isRepeated === undefined || given === undefined || before === undefined) return false;
    return isRepeated(fields as Record<string, unknown>, row.fields) && sealer.open(given) === sealer.open(before);
  });
  const paths = repeated.map(({ path }) => path);
  return Object.fromEntries(Object.entries(hidden).filter(([path]) => !paths.includes(path)));
}

/** Removes the value at a path. Returns the remaining fields, and the value; undefined if nothing is at the path. */
export function takeOut(
  from: Record<string, unknown>,
  path: readonly string[],
): { readonly rest: Record<string, unknown>; readonly value: unknown } {
  const [name, ...below] = path;
  if (name === undefined || !(name in from)) return { rest: from, value: undefined };
  const { [name]: value, ...others } = from;
  if (below.length === 0) return { rest: others, value };
  if (typeof value !== "object" || value === null) return { rest: from, value: undefined };
  const inner = takeOut(value as Record<string, unknown>, below);
  return { rest: { ...from, [name]: inner.rest }, value: inner.value };
}
