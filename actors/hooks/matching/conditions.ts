import type { WorkEvent } from "../../events/catalogue.js";
import { compile, createBudget, type Outcome } from "../../expressions/evaluate.js";
import type { Work } from "../../expressions/meter.js";
import { isTemplate, onlyExpression, readTemplate } from "../../expressions/templates.js";
import type { ResourceRow } from "../../resources/resource.table.js";
import type { HookFields } from "../hook.js";
import { type EventValues, toHookValues } from "../hook-values.js";
import { compileGlob } from "./glob.js";

/** The conditions of a hook: the match lists, and `when`. */
export const conditionNames = ["lines", "stations", "repositories", "tools", "paths", "when"] as const;

/** An event in the form that hook conditions read. */
export interface Subject {
  readonly work: WorkEvent;
  /** Computed when a `when` first needs the values. */
  readonly values: () => EventValues;
}

/**
 * One condition of a hook (configuration API, Hook): a non-empty match list, or `when`. A hook fires only if all its
 * conditions hold.
 */
export interface Condition {
  readonly name: (typeof conditionNames)[number];
  /** The hook's list or `when`, unchanged. */
  readonly wanted: readonly string[] | string;
  /** The condition written as a `when` expression that is true for the same events. */
  readonly expression: string;
  /** Returns the part of an event that the condition reads. */
  saw(work: WorkEvent): unknown;
  /**
   * Evaluates the condition and subtracts its cost from `work`. Returns null if `work` had too few units left to
   * decide. Never returns null if `work` had at least as many units as the condition may cost.
   */
  holds(subject: Subject, work: Work): boolean | null;
  /** Returns the value of a user's `when`, and subtracts its cost from `work`; null for a match list. */
  outcome(subject: Subject, work: Work): Outcome | null;
}

/** The fields of a hook that decide its conditions. */
type MatchedFields = Pick<HookFields, "key" | "on" | "match" | "vars" | "when">;

/** Estimated size limit of all cached conditions, in bytes; the oldest are evicted first. */
const MAX_CACHED_BYTES = 128_000_000;
const BYTES_A_HOOK = 2_000;
/**
 * Estimated bytes per character of a name or glob in a match list. The next constant is for a `when`, including its
 * compiled program.
 */
const BYTES_A_CHARACTER = 8;
const BYTES_A_CHARACTER_OF_WHEN = 200;

interface CachedConditions {
  readonly version: number;
  readonly weight: number;
  readonly conditions: readonly Condition[];
}

const cachedConditions = new Map<string, CachedConditions>();
let cachedBytes = 0;

/** Returns the conditions of a stored hook, in evaluation order. The conditions are cached for the hook's version. */
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

/** Compiles a hook's match lists and its `when` to conditions. */
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

/**
 * Returns the repositories of an event. A pull request is in one repository; any other event concerns all repositories
 * of the task.
 */
export function eventRepositories({ event, task }: WorkEvent): readonly string[] {
  return typeof event.repository === "string" ? [event.repository] : task.repositories;
}

type ConditionSource = ({ readonly expression: string } | { readonly list: string }) & {
  readonly saw: (work: WorkEvent) => readonly string[];
};

/**
 * Creates a condition that holds if a value of the event is one of the names. If the event has several values, one of
 * them is enough. Returns an empty list if there are no names.
 */
function nameCondition(name: Condition["name"], wanted: readonly string[], looked: ConditionSource): Condition[] {
  if (wanted.length === 0) return [];
  const names = new Set(wanted);
  const list = JSON.stringify(wanted);
  return [
    {
      name,
      wanted,
      saw: looked.saw,
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
 * Maximum cost of matching the paths of one change, in units of the meter. If matching would cost more, the change
 * counts as a match. So a large change cannot bypass a hook that guards paths.
 */
const MAX_PATH_UNITS = 60_000;

function pathCondition(wanted: readonly string[]): Condition {
  const patterns = wanted.map(compileGlob);
  const saw = ({ event }: WorkEvent) => (Array.isArray(event.changed) ? event.changed.map(String) : []);
  return {
    name: "paths",
    wanted,
    saw,
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

/** Returns globs as one regular expression in RE2 syntax, for display. */
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
  return {
    name: "when",
    wanted: when,
    expression,
    saw: ({ event, task, run }) => ({ event, task, run, vars: hook.vars }),
    holds: (subject, work) => program.holds(toHookValues(hook, subject.values()), work),
    outcome: (subject, work) => {
      const allowance = createBudget();
      const { units } = allowance;
      const outcome = program.evaluate(toHookValues(hook, subject.values()), allowance);
      work.units -= units - allowance.units;
      return outcome;
    },
  };
}

/** Returns a condition without its `${{ }}`. */
function expressionSource(when: string): string {
  if (!isTemplate(when)) return when;
  const read = readTemplate(when);
  return "fault" in read ? when : (onlyExpression(read.template)?.source ?? when);
}
