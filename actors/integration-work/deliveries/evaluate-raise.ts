import { writeJson } from "../../exact-json.js";
import { DYN } from "../../expressions/cel-types.js";
import { type Budget, compile, type Names, type Outcome } from "../../expressions/evaluate.js";
import { evaluateText, onlyExpression, readTemplate } from "../../expressions/templates.js";
import { type Json, toText, toValue } from "../../expressions/values.js";
import type { IntegrationEvent } from "../../integrations/events.js";
import { whyNoMark } from "../../integrations/mark-value.js";
import { toBranchName } from "../../tasks/raised-values.js";
import { MAX_EVENT_FILES } from "../../tasks/task-attachment.js";
import type { RaisedFile, RaisedOpening, TaskMark } from "../../tasks/team-marks.messages.js";
import { cutText, toWellFormedJson } from "../../well-formed.js";
import type { EvaluatedRaise } from "./evaluated-delivery.js";

/** Thrown when an expression exceeds the cost limit. */
export class TooExpensive extends Error {
  override readonly name = "TooExpensive";
}

/** Maximum lengths of the texts of a raise, in characters; longer texts are cut. */
const MAX_SAY = 20_000;
const MAX_DESCRIPTION = 60_000;
const MAX_TITLE = 1_000;
const MAX_BRANCH = 1_000;
/**
 * Maximum number of failed fields that an entry reports. {@link MAX_REASON} is the maximum length of a reason, in
 * characters.
 */
const MAX_UNREAD = 10;
const MAX_REASON = 200;

/** The input for evaluating an entry. */
export interface RaiseScene {
  readonly names: (field: string) => Names;
  readonly budget: Budget;
  readonly places: EventPlaces;
  /** The line and station that the webhook's route selects; null if no route selects any. */
  readonly routed: RoutedPlace | null;
  /** The values for the expressions of files, except the body, as JSON text. */
  readonly values: () => string;
}

/** The target of a route. */
export interface RoutedPlace {
  readonly line: string;
  readonly station: string | null;
  readonly channel: string | null;
}

/** The lines of the integration's team. */
export interface EventPlaces {
  /** Finds the line with a key; undefined if there is none. */
  findLine(key: string): { readonly id: string; hasStation(key: string): boolean } | undefined;
}

/**
 * Returns the value of a field. Returns null if the field is null or its evaluation fails. Throws {@link TooExpensive}
 * if the budget is spent.
 */
export function evaluateField(field: string | null, names: (field: string) => Names, budget: Budget): Json {
  if (field === null) return null;
  return requireAffordable(evaluateText(field, names(field), budget));
}

function requireAffordable(outcome: Outcome): Json {
  if (!("error" in outcome)) return outcome.value;
  if (outcome.isSpent === true) throw new TooExpensive();
  return null;
}

/** Compiles the single expression of a field; null if the field is not a single expression. */
export function findProgram(field: string) {
  const read = readTemplate(field);
  const only = "fault" in read ? null : onlyExpression(read.template);
  return only === null ? null : compile(only.source);
}

/** The fields of a raise whose expressions failed: the reason by field path. Such fields count as empty. */
class UnreadFields {
  readonly #reasons = new Map<string, string>();

  /**
   * Returns the value of the field at `place`; null if its evaluation failed. Throws {@link TooExpensive} if the budget
   * is spent.
   */
  value(place: string, outcome: Outcome): Json {
    if ("error" in outcome && outcome.isSpent !== true) this.add(place, outcome.error);
    return requireAffordable(outcome);
  }

  add(place: string, reason: string): void {
    if (this.#reasons.size < MAX_UNREAD) this.#reasons.set(place, cutText(reason, MAX_REASON));
  }

  list(): readonly string[] {
    return [...this.#reasons].map(([place, reason]) => `\`${place}\` has no value: ${reason}`);
  }
}

/** Evaluates everything that an entry raises. Throws {@link TooExpensive} if the budget is spent. */
export function evaluateRaise({ raise }: IntegrationEvent, scene: RaiseScene): EvaluatedRaise {
  const { names, budget } = scene;
  const unread = new UnreadFields();
  const read = (place: string, field: string | null): string =>
    toText(field === null ? null : unread.value(place, evaluateText(field, names(field), budget)));
  const text = (place: string, field: string | null, max: number) => cutText(read(place, field), max);
  const opening = evaluateOpening(raise.opens, scene, text);
  const marks = Object.entries(raise.marks).flatMap(([kind, { value: field }]): TaskMark[] => {
    const found = read(`marks.${kind}`, field);
    const value = found.trim();
    const why = found === "" ? null : value === "" ? "it is blank" : whyNoMark(value);
    if (why !== null) unread.add(`marks.${kind}`, why);
    return value === "" || why !== null ? [] : [{ kind, value }];
  });
  const branch = text("branch", raise.branch, MAX_BRANCH).trim();
  const { files, left } = evaluateFiles(raise.attaches, scene, unread);
  return {
    say: text("say", raise.say, MAX_SAY),
    ...opening,
    // Keep an invalid branch name: the task reports it in a note, and it has no other effect.
    branch: branch === "" ? null : branch,
    marks,
    channel: scene.routed?.channel ?? null,
    attaches: files.length === 0 ? null : { values: scene.values(), files, left },
    note: findNote([
      ...(branch !== "" && toBranchName(branch) === null ? ["the branch name is not valid"] : []),
      ...(left > 0 ? [`more than ${MAX_EVENT_FILES} files: the others are skipped`] : []),
      ...unread.list(),
    ]),
  };
}

function evaluateOpening(
  opens: IntegrationEvent["raise"]["opens"],
  { places, routed }: RaiseScene,
  text: (place: string, field: string | null, max: number) => string,
): { readonly opens: RaisedOpening | null; readonly unrouted: string | null } {
  if (opens === null) return { opens: null, unrouted: null };
  const line = opens.line ?? routed?.line ?? null;
  // The route's station applies only to the route's line.
  const station =
    opens.station ?? (opens.line === null || opens.line === routed?.line ? (routed?.station ?? null) : null);
  const found = line === null ? undefined : places.findLine(line);
  if (found === undefined)
    return { opens: null, unrouted: line === null ? "it names no line" : `there is no line ${line}` };
  if (station !== null && !found.hasStation(station)) {
    return { opens: null, unrouted: `the line ${line} has no station ${station}` };
  }
  return {
    opens: {
      lineId: found.id,
      station,
      title: text("opens.title", opens.title, MAX_TITLE),
      description: text("opens.description", opens.description, MAX_DESCRIPTION),
      url: "",
      assigneeEmail: text("opens.assignBy.email", opens.assignBy?.email ?? null, MAX_TITLE).trim() || null,
    },
    unrouted: null,
  };
}

/** Returns the files up to the limit, and the number of further files. */
function evaluateFiles(
  attaches: IntegrationEvent["raise"]["attaches"],
  scene: RaiseScene,
  unread: UnreadFields,
): { readonly files: readonly RaisedFile[]; readonly left: number } {
  if (attaches === null) return { files: [], left: 0 };
  const { names, budget } = scene;
  const list = findProgram(attaches.each)?.list(names(attaches.each), budget, MAX_EVENT_FILES);
  if (list === undefined || "error" in list) {
    if (list?.isSpent === true) throw new TooExpensive();
    unread.add("attaches.each", list?.error ?? "it is none");
    return { files: [], left: 0 };
  }
  const files: RaisedFile[] = [];
  for (const element of list.elements) {
    const file = requireAffordable(element);
    const read = (name: "name" | "type" | "size"): Json => {
      const field = attaches[name];
      if (field === null) return null;
      const seen: Names = { ...names(field), file: toValue(file, DYN) };
      return unread.value(`attaches.${name}`, evaluateText(field, seen, budget));
    };
    const size = Number(read("size") ?? Number.NaN);
    const type = toText(read("type"));
    files.push({
      name: cutText(toText(read("name")), MAX_TITLE),
      type: type === "" ? null : cutText(type, MAX_TITLE),
      size: Number.isSafeInteger(size) && size >= 0 ? size : null,
      file: writeJson(toWellFormedJson(file)),
    });
  }
  return { files, left: Math.max(0, list.size - MAX_EVENT_FILES) };
}

function findNote(left: readonly string[]): string | null {
  return left.length === 0 ? null : left.join("; ");
}
