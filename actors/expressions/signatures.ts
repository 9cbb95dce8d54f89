import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  NULL,
  STRING,
  TIMESTAMP,
  TYPE,
  type Type,
  toList,
  toMap,
  toType,
  UINT,
} from "./cel-types.js";

/** One way to call a function. A method's receiver is its first argument. */
export interface Overload {
  readonly isMethod: boolean;
  readonly takes: readonly Type[];
  readonly gives: Type;
}

const A: Type = { kind: "parameter", name: "A" };
const B: Type = { kind: "parameter", name: "B" };
const ordered = [BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION];
const numbers = [INT, UINT, DOUBLE];

const call = (gives: Type, ...takes: Type[]): Overload => ({ isMethod: false, takes, gives });
const method = (gives: Type, ...takes: Type[]): Overload => ({ isMethod: true, takes, gives });
/** Creates one overload of an operator for each type. Both sides and the result have this type. */
const closed = (...types: Type[]) => types.map((type) => call(type, type, type));
const conversions = (gives: Type, ...from: Type[]) => from.map((type) => call(gives, type));
const calendar = [method(INT, TIMESTAMP), method(INT, TIMESTAMP, STRING)];
const clock = [...calendar, method(INT, DURATION)];

const comparison = ordered.map((type) => call(BOOL, type, type));
/** Overloads that compare numbers of two different types. There are no such overloads for arithmetic. */
const mixedComparison = numbers.flatMap((left) =>
  numbers.filter((right) => right !== left).map((right) => call(BOOL, left, right)),
);

const operators: Readonly<Record<string, readonly Overload[]>> = {
  "?:": [call(A, BOOL, A, A)],
  "&&": closed(BOOL),
  "||": closed(BOOL),
  "!_": [call(BOOL, BOOL)],
  "-_": [call(INT, INT), call(DOUBLE, DOUBLE)],
  "==": [call(BOOL, A, A)],
  "!=": [call(BOOL, A, A)],
  "<": comparison,
  "<=": comparison,
  ">": comparison,
  ">=": comparison,
  "+": [
    ...closed(BYTES, DOUBLE, DURATION, INT, STRING, UINT, toList(A)),
    call(TIMESTAMP, TIMESTAMP, DURATION),
    call(TIMESTAMP, DURATION, TIMESTAMP),
  ],
  "-": [
    ...closed(DOUBLE, DURATION, INT, UINT),
    call(TIMESTAMP, TIMESTAMP, DURATION),
    call(DURATION, TIMESTAMP, TIMESTAMP),
  ],
  "*": closed(DOUBLE, INT, UINT),
  "/": closed(DOUBLE, INT, UINT),
  "%": closed(INT, UINT),
  "[]": [call(A, toList(A), INT), call(B, toMap(A, B), A)],
  in: [call(BOOL, A, toList(A)), call(BOOL, A, toMap(A, B))],
};

const sized = [BYTES, toList(A), toMap(A, B), STRING];

const functions: Readonly<Record<string, readonly Overload[]>> = {
  size: [...sized.map((type) => call(INT, type)), ...sized.map((type) => method(INT, type))],
  bool: conversions(BOOL, BOOL, STRING),
  bytes: conversions(BYTES, BYTES, STRING),
  double: conversions(DOUBLE, DOUBLE, INT, STRING, UINT),
  duration: conversions(DURATION, DURATION, INT, STRING),
  dyn: conversions(DYN, A),
  int: conversions(INT, INT, DOUBLE, DURATION, STRING, TIMESTAMP, UINT),
  string: conversions(STRING, STRING, BOOL, BYTES, DOUBLE, DURATION, INT, TIMESTAMP, UINT),
  timestamp: conversions(TIMESTAMP, TIMESTAMP, INT, STRING),
  type: [call(toType(A), A)],
  uint: conversions(UINT, UINT, DOUBLE, INT, STRING),
  contains: [method(BOOL, STRING, STRING)],
  endsWith: [method(BOOL, STRING, STRING)],
  startsWith: [method(BOOL, STRING, STRING)],
  matches: [call(BOOL, STRING, STRING), method(BOOL, STRING, STRING)],
  getFullYear: calendar,
  getMonth: calendar,
  getDayOfYear: calendar,
  getDayOfMonth: calendar,
  getDate: calendar,
  getDayOfWeek: calendar,
  getHours: clock,
  getMinutes: clock,
  getSeconds: clock,
  getMilliseconds: clock,
};

/**
 * The functions and types that expressions can use, in addition to the names in scope. All positions use {@link
 * language}.
 */
export interface Declarations {
  /** Overloads by the function's name, including dots, or by the operator. */
  readonly functions: ReadonlyMap<string, readonly Overload[]>;
  /** Types by their names. */
  readonly types: ReadonlyMap<string, Type>;
  /**
   * The namespace in which the checker looks up a name first, before the enclosing namespaces; empty for none. A
   * leading dot (`.x`) would be useful only with a namespace, and is a syntax error.
   */
  readonly container: string;
}

const typeNames = {
  bool: BOOL,
  bytes: BYTES,
  double: DOUBLE,
  int: INT,
  uint: UINT,
  string: STRING,
  null_type: NULL,
  list: toList(DYN),
  map: toMap(DYN, DYN),
  type: TYPE,
  "google.protobuf.Timestamp": TIMESTAMP,
  "google.protobuf.Duration": DURATION,
};

/** The standard definitions of cel-spec ("List of Standard Definitions"). */
export const standard: Declarations = {
  functions: new Map([...Object.entries(operators), ...Object.entries(functions)]),
  types: new Map(Object.entries(typeNames).map(([name, type]) => [name, toType(type)])),
  container: "",
};

/** Comparisons of numbers of different types, which cel-spec leaves to each implementation. */
const mixedComparisons: ReadonlyMap<string, readonly Overload[]> = new Map(
  ["<", "<=", ">", ">="].map((operator) => [operator, mixedComparison]),
);

/** The language of all positions. JSON numbers are doubles, so mixed comparisons make `event.count > 1` valid. */
export const language: Declarations = extended(standard, mixedComparisons);

/** Returns declarations with additional functions and overloads. */
export function extended(base: Declarations, more: ReadonlyMap<string, readonly Overload[]>): Declarations {
  const functions = new Map(base.functions);
  for (const [name, overloads] of more) functions.set(name, [...(functions.get(name) ?? []), ...overloads]);
  return { ...base, functions };
}

/** Lists the names of callable functions, without operators. */
export function callableNames({ functions }: Declarations): string[] {
  return [...functions.keys()].filter((name) => /^\w+(\.\w+)*$/.test(name) && name !== "in");
}

/** Lists the qualified names that a name may mean within a namespace, innermost first. */
export function listCandidates(name: string, container: string): string[] {
  if (container === "") return [name];
  const parts = container.split(".");
  return [...parts.map((_, index) => [...parts.slice(0, parts.length - index), name].join(".")), name];
}
