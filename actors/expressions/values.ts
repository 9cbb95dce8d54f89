import {
  type CelUint,
  type CelValue,
  celType,
  celUint,
  isCelList,
  isCelMap,
  isCelType,
  isCelUint,
} from "@bufbuild/cel";
import { isMessage, toJson } from "@bufbuild/protobuf";
import { DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { writeJson } from "../exact-json.js";
import type { Type } from "./cel-types.js";

export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [name: string]: Json };

/** A value in the form that expressions read. */
export type Value = null | boolean | number | bigint | CelUint | string | readonly Value[] | ReadonlyMap<string, Value>;

/** The number of elements and characters that results may still have. Larger results would not fit into a request. */
export interface SizeBudget {
  elements: number;
  characters: number;
  /** Whether results keep unpaired surrogates, for callers that need the exact code units. Absent means no. */
  readonly isRaw?: boolean;
}

export const createSizeBudget = (): SizeBudget => ({ elements: 10_000, characters: 1_000_000 });

/**
 * Converts JSON to the form that expressions read. Most numbers become doubles. Integers declared as `int` and integers
 * beyond 2^53 become an `int`. If the integer fits only in a `uint`, it becomes a `uint`. If it does not fit in 64
 * bits, it becomes the text of its digits.
 */
export function toValue(json: unknown, type: Type): Value {
  switch (typeof json) {
    case "string":
    case "boolean":
      return json;
    case "number":
      return type.kind === "int" && Number.isSafeInteger(json) ? BigInt(json) : json;
    case "bigint":
      return toWholeNumber(json) ?? String(json);
    case "object":
      return json === null ? null : toNestedValue(json, type);
    default:
      return null;
  }
}

/** Converts an integer to an `int`, or to a `uint` if only that fits. Returns null if it does not fit in 64 bits. */
export function toWholeNumber(number: bigint): bigint | CelUint | null {
  if (BigInt.asIntN(64, number) === number) return number;
  return BigInt.asUintN(64, number) === number ? celUint(number) : null;
}

function toNestedValue(json: object, type: Type): Value {
  if (Array.isArray(json)) {
    const element: Type = type.kind === "list" ? type.element : { kind: "dyn" };
    return json.map((each) => toValue(each, element));
  }
  const entries = Object.entries(json).filter(([, value]) => value !== undefined);
  return new Map(entries.map(([name, value]) => [name, toValue(value, typeOfField(type, name))]));
}

function typeOfField(type: Type, name: string): Type {
  if (type.kind === "map") return type.value;
  const own = type.kind === "object" && Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
  return own ?? { kind: "dyn" };
}

/** The size budget for results that keep unpaired surrogates. */
export const createRawSizeBudget = (): SizeBudget => ({ ...createSizeBudget(), isRaw: true });

/**
 * Converts a result to JSON:
 *
 * - Unpaired surrogates become U+FFFD unless `budget.isRaw` is set.
 * - Integers keep all their digits. Infinite numbers and NaN become text.
 * - Bytes become base64, times become RFC 3339, and durations become seconds ("1.5s").
 *
 * Subtracts the result's size from `budget`. Throws if the result is larger than the budget, because a small expression
 * may repeat the same part very often.
 */
export function toPlainJson(value: CelValue, budget: SizeBudget): Json {
  return new Writer(budget).json(value);
}

class Writer {
  readonly #budget: SizeBudget;

  constructor(budget: SizeBudget) {
    this.#budget = budget;
  }

  json(value: CelValue): Json {
    if (--this.#budget.elements < 0) throw new Error("its result is too large");
    if (value === null || typeof value === "boolean") return value;
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        return Number.isFinite(value) ? value : String(value);
      case "bigint":
        return integer(value);
      default:
        return this.#object(value);
    }
  }

  #object(value: Extract<CelValue, object>): Json {
    if (isCelUint(value)) return integer(value.value);
    if (value instanceof Uint8Array) return this.#text(Buffer.from(value).toString("base64"));
    if (isCelList(value)) return Array.from(value, (each) => this.json(each));
    if (isCelMap(value)) {
      const entries = [...value.entries()];
      return Object.fromEntries(entries.map(([key, each]) => [this.#text(keyText(key)), this.json(each)]));
    }
    if (isCelType(value)) return value.name;
    if (isMessage(value.message, TimestampSchema)) return toJson(TimestampSchema, value.message);
    if (isMessage(value.message, DurationSchema)) return toJson(DurationSchema, value.message);
    throw new Error(`a ${celType(value).name} cannot be written`);
  }

  #text(text: string): string {
    this.#budget.characters -= text.length;
    if (this.#budget.characters < 0) throw new Error("its result is too large");
    return this.#budget.isRaw === true ? text : text.toWellFormed();
  }
}

function integer(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function keyText(key: unknown): string {
  return typeof key === "object" && key !== null && isCelUint(key) ? String(key.value) : String(key);
}

/** Converts a result to text: null becomes an empty text, lists and maps become JSON, and text stays unchanged. */
export function toText(json: Json): string {
  if (json === null) return "";
  return typeof json === "object" ? writeJson(json) : String(json);
}
