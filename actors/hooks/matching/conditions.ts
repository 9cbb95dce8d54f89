import type { WorkEvent } from "../../events/catalogue.js";
import { compile, createBudget, type Outcome } from "../../expressions/evaluate.js";
import type { Work } from "../../expressions/meter.js";
import { isTemplate, onlyExpression, readTemplate } from "../../expressions/templates.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import type { HookFields } from "../hook.js";
import { type EventValues, toHookOwnValues } from "../hook-values.js";
import { compileGlob } from "./glob.js";

/** What a hook's condition may test: the match lists, and `when`. */
export const conditionNames = ["lines", "stations", "repositories", "tools", "paths", "when"] as const;

/** An event as the conditions of many hooks look at it. */
export interface Subject {
  readonly work: WorkEvent;
  /** Made when the first `when` looks at them. */
  readonly values: () => EventValues;
}

/**
 * One of the conditions that all have to hold for a hook to fire (configuration API, Hook): every match list that is
 * not empty, then `when`.
 */
export interface Condition {
  readonly name: (typeof conditionNames)[number];
  /** What the hook asks for, as it is written. */
  readonly wanted: readonly string[] | string;
  /** The same as an expression: a `when` that holds for the same events. */
  readonly expression: string;
  /** What it looks at of an event. */
  saw(work: WorkEvent): unknown;
  /** Takes what it costs from `work`; null when that was too little to tell, and less than the condition may take. */
  holds(subject: Subject, work: Work): boolean | null;
  /** What it comes to, where it is an expression that a person wrote; takes what that costs from `work`. */
  outcome(subject: Subject, work: Work): Outcome | null;
}

/** What a hook is judged by. */
type MatchedFields = Pick<HookFields, "key" | "on" | "match" | "vars" | "when">;

/** Bytes of the conditions that are kept, by estimate; those that were made first go first. */
const MAX_CACHED_BYTES = 128_000_000;
const BYTES_A_HOOK = 2_000;
/** Of a list's name or glob, and of a `when`, whose program is kept with it. */
const BYTES_A_CHARACTER = 8;
const BYTES_A_CHARACTER_OF_WHEN = 200;

interface CachedConditions {
  readonly version: number;
  readonly weight: number;
  readonly conditions: readonly Condition[];
}

const cachedConditions = new Map<string, CachedConditions>();
let cachedBytes = 0;

/** The conditions of a hook as it is stored, in the order in which they are looked at; made once for each version. */
export function getConditions({ id, version, fields }: ResourceRow<HookFields>): readonly Condition[] {
  const known = cachedConditions.get(id);
  if (known?.version === version) return known.conditions;
  const made = { version, weight: estimateBytes(fields), conditions: compileConditions(fields) };
  evict(id);
  cachedConditions.set(id, made);
  cachedBytes += made.weight;
  for (const [first] of cachedConditions) {
    if (cachedBytes <= MAX_CACHED_BYTES) break;
    evict(first);
  }
  return made.conditions;
}

function evict(id: string): void {
  cachedBytes -= cachedConditions.get(id)?.weight ?? 0;
  cachedConditions.delete(id);
}

function estimateBytes({ match, when }: MatchedFields): number {
  const lists = Object.values(match).reduce((sum, list) => sum + list.join("").length, 0);
  return BYTES_A_HOOK + BYTES_A_CHARACTER * lists + BYTES_A_CHARACTER_OF_WHEN * (when?.length ?? 0);
}

/** The match lists of a hook and its `when` as conditions of one kind. */
export function compileConditions(hook: MatchedFields): readonly Condition[] {
  const { on, match, when } = hook;
  return [
    ...nameCondition("lines", match.lines, { expression: "task.line", saw: ({ task }) => [task.line] }),
    ...nameCondition("stations", match.stations, {
      expression: "task.stationKey",
      saw: ({ task }) => [task.stationKey],
    }),
    ...nameCondition("repositories", match.repositories, {
      ...(on.startsWith("pull-request.") ? { expression: "event.repository" } : { list: "task.repositories" }),
      saw: eventRepositories,
    }),
    ...nameCondition("tools", match.tools, {
      expression: "event.tool",
      saw: ({ event }) => [String(event.tool ?? "")],
    }),
    ...(match.paths.length === 0 ? [] : [pathCondition(match.paths)]),
    ...(when === null ? [] : [whenCondition(when, hook)]),
  ];
}

/** A pull request is in one repository; any other event is about all of the line's. */
export function eventRepositories({ event, task }: WorkEvent): readonly string[] {
  return typeof event.repository === "string" ? [event.repository] : task.repositories;
}

type ConditionSource = ({ readonly expression: string } | { readonly list: string }) & {
  readonly saw: (work: WorkEvent) => readonly string[];
};

/** What is looked at has to be one of the names, or one of it when it is several. */
function nameCondition(name: Condition["name"], wanted: readonly string[], looked: ConditionSource): Condition[] {
  if (wanted.length === 0) return [];
  const names = new Set(wanted);
  const list = JSON.stringify(wanted);
  return [
    {
      ...{ name, wanted, saw: looked.saw },
      expression: "list" in looked ? `${looked.list}.exists(one, one in ${list})` : `${looked.expression} in ${list}`,
      holds: ({ work: event }, work) => {
        const saw = looked.saw(event);
        work.units -= saw.length;
        return saw.some((value) => names.has(value));
      },
      outcome: () => null,
    },
  ];
}

/**
 * What looking at the paths of one change may cost, in units of the meter. A change that is too large to be looked
 * through counts as one that touches the paths: none goes past a hook that guards them for its size.
 */
const MAX_PATH_UNITS = 60_000;

function pathCondition(wanted: readonly string[]): Condition {
  const patterns = wanted.map(compileGlob);
  const saw = ({ event }: WorkEvent) => (Array.isArray(event.changed) ? event.changed.map(String) : []);
  return {
    ...{ name: "paths", wanted, saw },
    expression: `event.changed.exists(path, path.matches(${JSON.stringify(toRegularExpression(wanted))}))`,
    holds: ({ work: event }, work) => {
      const units = Math.max(0, Math.min(MAX_PATH_UNITS, work.units));
      const left = { units };
      const found = saw(event).some((path) =>
        patterns.some((pattern) => left.units > 0 && pattern.matches(path, left)),
      );
      work.units -= units - left.units;
      if (found || left.units > 0) return found;
      return units < MAX_PATH_UNITS ? null : true;
    },
    outcome: () => null,
  };
}

/** Globs as one regular expression of RE2's syntax, for reading. */
function toRegularExpression(globs: readonly string[]): string {
  const written = globs.map((glob) =>
    (glob.endsWith("/") ? `${glob}**` : glob).replace(
      /\*\*|[*?.+()[\]{}^$|\\]/g,
      (token) => ({ "**": ".*", "*": "[^/]*", "?": "[^/]" })[token] ?? `\\${token}`,
    ),
  );
  return `^(?s:${written.join("|")})$`;
}

function whenCondition(when: string, hook: MatchedFields): Condition {
  const expression = expressionSource(when);
  const program = compile(expression);
  const own = toHookOwnValues(hook);
  return {
    ...{ name: "when", wanted: when, expression },
    saw: ({ event, task, run }) => ({ event, task, run, vars: hook.vars }),
    holds: (subject, work) => program.holds({ ...subject.values(), ...own }, work),
    outcome: (subject, work) => {
      const allowance = createBudget();
      const { units } = allowance;
      const outcome = program.evaluate({ ...subject.values(), ...own }, allowance);
      work.units -= units - allowance.units;
      return outcome;
    },
  };
}

/** A condition without its `${{ }}`. */
function expressionSource(when: string): string {
  if (!isTemplate(when)) return when;
  const read = readTemplate(when);
  return "fault" in read ? when : (onlyExpression(read.template)?.source ?? when);
}
