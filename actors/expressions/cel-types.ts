/** The CEL types without parameters (cel-spec, language definition, "Values" and "Gradual type checking"). */

export type Scalar =
  | "dyn"
  | "error"
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "null_type"
  | "timestamp"
  | "duration";

export type Type =
  | { readonly kind: Scalar }
  | { readonly kind: "list"; readonly element: Type }
  | { readonly kind: "map"; readonly key: Type; readonly value: Type }
  /** A map with known keys. Any other key is an error. */
  | { readonly kind: "object"; readonly fields: Readonly<Record<string, Type>> }
  /** A type with only a name and parameters: `set(int)`. */
  | { readonly kind: "opaque"; readonly name: string; readonly parameters: readonly Type[] }
  /** The type of `type(x)`; null for the type of types. */
  | { readonly kind: "type"; readonly of: Type | null }
  /** A type variable, whose type the checker infers. */
  | { readonly kind: "parameter"; readonly name: string };

const scalar = (kind: Scalar): Type => ({ kind });

export const DYN = scalar("dyn");
export const ERROR = scalar("error");
export const BOOL = scalar("bool");
export const INT = scalar("int");
export const UINT = scalar("uint");
export const DOUBLE = scalar("double");
export const STRING = scalar("string");
export const BYTES = scalar("bytes");
export const NULL = scalar("null_type");
export const TIMESTAMP = scalar("timestamp");
export const DURATION = scalar("duration");

export const toList = (element: Type): Type => ({ kind: "list", element });
export const toMap = (key: Type, value: Type): Type => ({ kind: "map", key, value });
export const toObject = (fields: Readonly<Record<string, Type>>): Type => ({ kind: "object", fields });
export const opaque = (name: string, ...parameters: Type[]): Type => ({ kind: "opaque", name, parameters });
export const toType = (of: Type | null): Type => ({ kind: "type", of });

/** The type of types. */
export const TYPE = toType(null);

/** A map with unknown values. */
const ANY_MAP = toMap(STRING, DYN);

/** Formats a type in CEL's notation: `list(map(string, dyn))`. An object is written as a map. */
export function formatType(type: Type): string {
  switch (type.kind) {
    case "list":
      return `list(${formatType(type.element)})`;
    case "map":
      return `map(${formatType(type.key)}, ${formatType(type.value)})`;
    case "object":
      return formatType(ANY_MAP);
    case "opaque":
      return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(formatType).join(", ")})`;
    case "type":
      return type.of === null ? "type" : `type(${formatType(type.of)})`;
    case "null_type":
      return "null";
    case "parameter":
      return type.name;
    case "timestamp":
    case "duration":
      return `google.protobuf.${type.kind === "timestamp" ? "Timestamp" : "Duration"}`;
    case "error":
      return "!error!";
    default:
      return type.kind;
  }
}

function isDyn({ kind }: Type): boolean {
  return kind === "dyn" || kind === "error";
}

/**
 * Returns whether both types have the same notation. Parameters are compared by name. All objects count as equal to
 * each other and to `map(string, dyn)`.
 */
export function isSame(left: Type, right: Type): boolean {
  return formatType(left) === formatType(right);
}

/** Maximum number of parts in a type ({@link bounded}). An expression could otherwise double a type at every step. */
const MAX_PARTS = 200;
/** Maximum number of type comparisons in one check. After this number, the checker accepts every type. */
const MAX_COMPARISONS = 50_000;

/** Returns the type, or `dyn` if it has {@link MAX_PARTS} parts or more. */
export function bounded(type: Type): Type {
  return toParts(type, MAX_PARTS) > 0 ? type : DYN;
}

/** Returns `max` minus the number of parts of the type. The result is below 1 if there are at least `max` parts. */
function toParts(type: Type, max: number): number {
  if (max <= 0) return 0;
  switch (type.kind) {
    case "list":
      return toParts(type.element, max - 1);
    case "map":
      return toParts(type.value, toParts(type.key, max - 1));
    case "opaque":
      return type.parameters.reduce((left, parameter) => toParts(parameter, left), max - 1);
    case "type":
      return type.of === null ? max - 1 : toParts(type.of, max - 1);
    default:
      return max - 1;
  }
}

/**
 * The types that the checker has bound to type parameters, as in the checker of cel-go (`checker/types.go`). A check
 * whether types are assignable binds parameters. If the check fails, it binds no parameter.
 */
export class Bindings {
  readonly #bound = new Map<string, Type>();
  /** A log of the bindings, each with its previous value. The log is used to undo the bindings of a failed check. */
  readonly #trail: { readonly name: string; readonly before: Type | undefined }[] = [];
  #fresh = 0;
  #comparisons = 0;

  fresh(): Type {
    return { kind: "parameter", name: `_${this.#fresh++}` };
  }

  /** Replaces the parameters in these types with new ones. */
  instantiate(types: readonly Type[]): readonly Type[] {
    if (!types.some(namesParameter)) return types;
    const own = new Map<string, Type>();
    const replace = (type: Type): Type =>
      mapParameters(type, ({ name }) => {
        const known = own.get(name) ?? this.fresh();
        own.set(name, known);
        return known;
      });
    return types.map(replace);
  }

  /**
   * Returns whether each given type is assignable to the wanted type at the same index. If so, the parameters that the
   * check bound stay bound.
   */
  areAssignable(given: readonly Type[], wanted: readonly Type[]): boolean {
    const mark = this.#trail.length;
    const all = this.#assignAll(given, wanted);
    if (!all) this.#takeBack(mark);
    return all;
  }

  #keep(name: string, type: Type): void {
    this.#trail.push({ name, before: this.#bound.get(name) });
    this.#bound.set(name, type);
  }

  #takeBack(mark: number): void {
    for (const { name, before } of this.#trail.splice(mark).reverse()) {
      if (before === undefined) this.#bound.delete(name);
      else this.#bound.set(name, before);
    }
  }

  /**
   * Replaces the bound parameters in the type with their types. `unknown` decides whether unbound parameters stay or
   * become `dyn`. In a very large type, the parts beyond the limit become `dyn`.
   */
  resolve(type: Type, unknown: "kept" | "dyn" = "kept"): Type {
    let left = MAX_PARTS;
    const put = (part: Type): Type => {
      if (--left < 0) return DYN;
      switch (part.kind) {
        case "parameter": {
          const bound = this.#bound.get(part.name);
          if (bound !== undefined) return put(bound);
          return unknown === "dyn" ? DYN : part;
        }
        case "list":
          return toList(put(part.element));
        case "map":
          return toMap(put(part.key), put(part.value));
        case "opaque":
          return opaque(part.name, ...part.parameters.map(put));
        case "type":
          return part.of === null ? part : toType(put(part.of));
        default:
          return part;
      }
    };
    return put(type);
  }

  /** Returns the more general of two types. Returns `dyn` if `left` is not assignable to `right`. */
  join(left: Type, right: Type): Type {
    return this.areAssignable([left], [right]) ? toMoreGeneral(left, right) : DYN;
  }

  #assign(given: Type, wanted: Type): boolean {
    if (++this.#comparisons > MAX_COMPARISONS) return true;
    if (wanted.kind === "parameter") {
      const bound = this.#bind(given, wanted);
      if (bound !== "unfit") return bound === "fits";
    }
    if (given.kind === "parameter") return this.#bind(wanted, given) === "fits";
    if (isDyn(given) || isDyn(wanted)) return true;
    if (given.kind === "null_type") return isNullable(wanted);
    if (wanted.kind === "null_type") return isNullable(given);
    return this.#assignKinds(given, wanted);
  }

  #assignKinds(given: Type, wanted: Type): boolean {
    if (given.kind === "list" && wanted.kind === "list") return this.#assign(given.element, wanted.element);
    if (given.kind === "object" || wanted.kind === "object") return this.#assignObjects(given, wanted);
    if (given.kind === "map" && wanted.kind === "map") {
      return this.#assign(given.key, wanted.key) && this.#assign(given.value, wanted.value);
    }
    if (given.kind === "opaque" && wanted.kind === "opaque") {
      return given.name === wanted.name && this.#assignAll(given.parameters, wanted.parameters);
    }
    if (given.kind === "type" && wanted.kind === "type") return true;
    return given.kind === wanted.kind;
  }

  #assignAll(given: readonly Type[], wanted: readonly Type[]): boolean {
    return given.length === wanted.length && given.every((type, index) => this.#assign(type, wanted[index] ?? ERROR));
  }

  #assignObjects(given: Type, wanted: Type): boolean {
    if (given.kind === "object" && wanted.kind === "object") return true;
    return this.#assign(given.kind === "object" ? ANY_MAP : given, wanted.kind === "object" ? ANY_MAP : wanted);
  }

  /**
   * Binds the parameter to the type. If the parameter is already bound, binds it to the more general of both types.
   * Returns `clashes` if the type does not fit the earlier binding. Returns `unfit` if the parameter is unbound and the
   * type contains the parameter.
   */
  #bind(type: Type, parameter: Extract<Type, { kind: "parameter" }>): "fits" | "clashes" | "unfit" {
    if (type.kind === "parameter" && type.name === parameter.name) return "fits";
    const known = this.#bound.get(parameter.name);
    if (known === undefined) {
      if (this.#occurs(parameter.name, type)) return "unfit";
      this.#keep(parameter.name, type);
      return "fits";
    }
    if (isSame(type, known)) return "fits";
    if (!this.#assign(type, known)) return "clashes";
    const general = toMoreGeneral(type, known);
    if (!this.#occurs(parameter.name, general)) this.#keep(parameter.name, general);
    return "fits";
  }

  /**
   * Returns whether the type contains the parameter, directly or through the bindings of other parameters. Binding the
   * parameter to such a type would create an infinite type.
   */
  #occurs(name: string, type: Type, seen = new Set<string>()): boolean {
    switch (type.kind) {
      case "parameter": {
        if (type.name === name) return true;
        const bound = this.#bound.get(type.name);
        if (bound === undefined || seen.has(type.name)) return false;
        return this.#occurs(name, bound, seen.add(type.name));
      }
      case "list":
        return this.#occurs(name, type.element, seen);
      case "map":
        return this.#occurs(name, type.key, seen) || this.#occurs(name, type.value, seen);
      case "opaque":
        return type.parameters.some((parameter) => this.#occurs(name, parameter, seen));
      case "type":
        return type.of !== null && this.#occurs(name, type.of, seen);
      default:
        return false;
    }
  }
}

function namesParameter(type: Type): boolean {
  switch (type.kind) {
    case "parameter":
      return true;
    case "list":
      return namesParameter(type.element);
    case "map":
      return namesParameter(type.key) || namesParameter(type.value);
    case "opaque":
      return type.parameters.some(namesParameter);
    case "type":
      return type.of !== null && namesParameter(type.of);
    default:
      return false;
  }
}

function mapParameters(type: Type, replace: (parameter: Extract<Type, { kind: "parameter" }>) => Type): Type {
  switch (type.kind) {
    case "parameter":
      return replace(type);
    case "list":
      return toList(mapParameters(type.element, replace));
    case "map":
      return toMap(mapParameters(type.key, replace), mapParameters(type.value, replace));
    case "opaque":
      return opaque(type.name, ...type.parameters.map((parameter) => mapParameters(parameter, replace)));
    case "type":
      return type.of === null ? type : toType(mapParameters(type.of, replace));
    default:
      return type;
  }
}

/** Whether null is assignable to the type, as in cel-go: only to null, timestamps, durations and opaque types. */
function isNullable({ kind }: Type): boolean {
  return kind === "null_type" || kind === "timestamp" || kind === "duration" || kind === "opaque";
}

function toMoreGeneral(left: Type, right: Type): Type {
  return isAsGeneral(left, right) ? left : right;
}

function isAsGeneral(left: Type, right: Type): boolean {
  if (left.kind === "dyn" || left.kind === "parameter") return true;
  if (right.kind === "dyn" || right.kind === "parameter") return false;
  if (right.kind === "null_type") return isNullable(left);
  if (left.kind === "list" && right.kind === "list") return isAsGeneral(left.element, right.element);
  if (left.kind === "map" && right.kind === "map") {
    return isAsGeneral(left.key, right.key) && isAsGeneral(left.value, right.value);
  }
  if (left.kind === "opaque" && right.kind === "opaque" && left.name === right.name) {
    return left.parameters.every((parameter, index) => isAsGeneral(parameter, right.parameters[index] ?? DYN));
  }
  if (left.kind === "type" && right.kind === "type") return true;
  return left.kind === "map" && right.kind === "object" ? true : isSame(left, right);
}
