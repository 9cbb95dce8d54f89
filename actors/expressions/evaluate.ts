import { type CelValue, isCelError, isCelList, plan } from "@bufbuild/cel";
import { cutText } from "../well-formed.js";
import { meteredEnvironment } from "./functions.js";
import { MAX_UNITS, Meter, type Work } from "./meter.js";
import { namingWhatIsMissing, readSelections } from "./missing-field.js";
import { parseExpression } from "./parse.js";
import { compileProgram } from "./program.js";
import {
  createRawSizeBudget,
  createSizeBudget,
  type Json,
  type SizeBudget,
  toPlainJson,
  type Value,
} from "./values.js";

/** The result of an evaluation, or the reason why there is none. */
export type Outcome = { readonly value: Json } | EvaluationFault;

/** Why an evaluation has no value. */
export interface EvaluationFault {
  readonly error: string;
  /** True if the evaluation cost too much; absent for any other fault. */
  readonly isSpent?: true;
}

/** The list that an expression evaluated to. Each element is converted when the caller reads it. */
export interface ValueList {
  readonly size: number;
  /** At most the requested number of elements. */
  readonly elements: Iterable<Outcome>;
}

/**
 * The cost and the output size that several evaluations may use together. Each evaluation also has a cost limit of its
 * own.
 */
export interface Budget extends Work {
  readonly room: SizeBudget;
}

/**
 * Creates the budget of one request. It is enough for four expressions of the maximum cost, or for 500 expressions that
 * cost only their start.
 */
export const createBudget = (): Budget => ({ units: 5 * MAX_UNITS, room: createSizeBudget() });
/** Like {@link createBudget}, but the results keep unpaired surrogates. */
export const createRawBudget = (): Budget => ({ units: 5 * MAX_UNITS, room: createRawSizeBudget() });
/**
 * Maximum number of expressions in a hook. With this number, the budget of a request covers the start of every
 * expression.
 */
export const MAX_EXPRESSIONS = 250;
/** Cost of starting an evaluation, in units. The evaluation may have to compile its program first. */
const UNITS_TO_BEGIN = 300;

/** A compiled expression, which can be evaluated any number of times. */
export interface Program {
  /** Evaluates the expression. Never throws. The cost is limited (see `meter.ts`). */
  evaluate(names: Names, allowance?: Budget): Outcome;
  /**
   * Evaluates the expression as a list. Never throws. `elements` has at most the first `max` elements of the list. Each
   * element has its own size limit.
   */
  list(names: Names, allowance: Budget, max: number): ValueList | EvaluationFault;
  /**
   * Evaluates the expression as a condition, and subtracts the cost from `work`. Returns false if the result is not
   * `true` or is an error. Returns null if `work` had less than {@link MAX_UNITS} and this was not enough.
   */
  holds(names: Names, work?: Work): boolean | null;
}

/** Values by the names that expressions use. */
export type Names = Readonly<Record<string, Value>>;

/** Merges names for several evaluations. Later parts override earlier ones. */
export function createNames(...parts: readonly Names[]): Names {
  // Use no prototype, so that a lookup of `constructor` finds nothing.
  return Object.assign(Object.create(null), ...parts);
}

/**
 * Maximum total length of the cached programs, in characters. A program takes up to 200 bytes per character. The oldest
 * program is evicted first.
 */
const MAX_CACHED_CHARACTERS = 300_000;
/** Number of characters to count for each cached program, in addition to its source. */
const CHARACTERS_A_PROGRAM = 20;

const meter = new Meter();
const environment = meteredEnvironment(meter);
const ready = new Map<string, Program>();
let cachedCharacters = 0;

/** Compiles an expression, with a cache. A program with syntax errors evaluates to an error. */
export function compile(source: string): Program {
  const known = ready.get(source);
  if (known !== undefined) return known;
  const program = make(source);
  ready.set(source, program);
  cachedCharacters += source.length + CHARACTERS_A_PROGRAM;
  for (const first of ready.keys()) {
    if (cachedCharacters <= MAX_CACHED_CHARACTERS) break;
    ready.delete(first);
    cachedCharacters -= first.length + CHARACTERS_A_PROGRAM;
  }
  return program;
}

function make(source: string): Program {
  const parsed = parseExpression(source);
  if ("fault" in parsed) return failing(parsed.fault.message);
  const run = plan(environment, compileProgram(parsed.tree));
  const selections = readSelections(parsed.tree);
  const value = (names: Names, units: number): { readonly cel: CelValue } | EvaluationFault => {
    meter.restart(units);
    const result = run(Object.getPrototypeOf(names) === null ? names : createNames(names));
    if (meter.isSpent) return { error: "it takes too long", isSpent: true };
    if (!isCelError(result)) return { cel: result };
    return faulty(namingWhatIsMissing(result.message, selections, (name) => Object.hasOwn(names, name)));
  };
  const spending = (names: Names, allowance: Budget) => {
    allowance.units -= UNITS_TO_BEGIN;
    const units = Math.min(allowance.units, MAX_UNITS);
    const found = value(names, units);
    allowance.units -= units - meter.left;
    return found;
  };
  return {
    evaluate: (names, allowance = createBudget()) => {
      const found = spending(names, allowance);
      return "error" in found ? found : written(found.cel, allowance.room);
    },
    list: (names, allowance, max) => {
      const found = spending(names, allowance);
      if ("error" in found) return found;
      const { cel } = found;
      if (!isCelList(cel)) return { error: "it is no list" };
      return { size: cel.size, elements: writtenOneByOne(cel, max, allowance.room.isRaw) };
    },
    holds: (names, work = { units: MAX_UNITS }) => {
      const units = Math.max(0, Math.min(MAX_UNITS, work.units));
      const found = value(names, units);
      work.units -= units - meter.left;
      if (meter.isSpent && units < MAX_UNITS) return null;
      return "cel" in found && found.cel === true;
    },
  };
}

/** Maximum length of a fault's text, in characters. The text may quote received data, and is stored and shown. */
const MAX_ERROR = 500;

function faulty(error: string): EvaluationFault {
  return { error: cutText(error, MAX_ERROR) };
}

function written(value: CelValue, room: SizeBudget): Outcome {
  try {
    return { value: toPlainJson(value, room) };
  } catch (error) {
    return faulty(error instanceof Error ? error.message : String(error));
  }
}

function* writtenOneByOne(list: Iterable<CelValue>, max: number, isRaw = false): Generator<Outcome> {
  let count = 0;
  for (const element of list) {
    if (count === max) return;
    count += 1;
    yield written(element, isRaw ? createRawSizeBudget() : createSizeBudget());
  }
}

function failing(error: string): Program {
  return { evaluate: () => ({ error }), list: () => ({ error }), holds: () => false };
}
