/**
 * Evaluates the entries of a delivery in slices. The generator yields wherever other work may run. Evaluation has a
 * cost limit, so it always ends, with the same result on every machine.
 */
import { writeJson } from "../../exact-json.js";
import { DYN } from "../../expressions/cel-types.js";
import type { Budget, Names, Outcome } from "../../expressions/evaluate.js";
import { evaluateText } from "../../expressions/templates.js";
import {
  createRawSizeBudget,
  type Json,
  type SizeBudget,
  toText,
  toValue,
  type Value,
} from "../../expressions/values.js";
import type { IntegrationFields } from "../../integrations/definition.js";
import type { IntegrationEvent } from "../../integrations/events.js";
import { cutText } from "../../well-formed.js";
import type { ReceivedDelivery } from "../intake/received-delivery.js";
import {
  type EventPlaces,
  evaluateField,
  evaluateRaise,
  findProgram,
  type RoutedPlace,
  TooExpensive,
} from "./evaluate-raise.js";
import {
  type EntryPlace,
  type Evaluated,
  type EvaluatedEntry,
  MAX_ENTRIES,
  type WantedLookup,
} from "./evaluated-delivery.js";

/** The input of an evaluation. */
export interface EvaluationScene {
  readonly fields: IntegrationFields;
  readonly block: "webhook" | "poll";
  readonly received: ReceivedDelivery;
  readonly places: EventPlaces;
  readonly from: EntryPlace;
  /** The captures of the lookup at `from`, by name; null if there was no lookup. */
  readonly captures: Readonly<Record<string, Json>> | null;
  /** The cost limit, in units. */
  readonly units: number;
  /** How many entries may still produce a result. */
  readonly entriesLeft: number;
  /**
   * Called with the reason for each entry that the `when` of its event does not accept. Also called for each event
   * whose `forEach` is empty or has no value.
   */
  readonly skipped?: (entry: Pick<EvaluatedEntry, "event" | "item">, reason: string) => void;
  /** Whether to evaluate entries without their lookups; captures are then null. */
  readonly leavesOutLookups?: boolean;
}

/** Units between two yields: about two milliseconds. */
const UNITS_A_SLICE = 20_000;
/** Maximum number of entries per result. A result also ends after {@link MAX_RESULT_CHARACTERS} characters. */
const MAX_RESULT_ENTRIES = 50;
const MAX_RESULT_CHARACTERS = 32_000;

/**
 * The cost budget of a delivery, with the size budget for the expression results of one entry. The size budget keeps
 * unpaired surrogates in the results, because marks are derived from the results. Raised texts other than marks are
 * made well-formed later.
 */
interface EntryBudget extends Budget {
  room: SizeBudget;
}

export const TOO_EXPENSIVE = "too-expensive";
const TOO_MANY = "too-many";

/**
 * Evaluates the next entries of a delivery. Yields wherever other work may run. Returns the evaluated entries; if there
 * are none, the reason.
 */
export function* evaluateDelivery(scene: EvaluationScene): Generator<void, Evaluated> {
  const { fields, block, received } = scene;
  const definition = fields[block];
  if (definition === null) return { kind: "over", state: "failed", reason: "definition-gone" };
  const budget: EntryBudget = { units: scene.units, room: createRawSizeBudget() };
  const names = (field: string) => received.namesFor(field);
  let routed: RoutedPlace | null = null;
  if (block === "webhook" && fields.webhook !== null) {
    const { mine, route } = fields.webhook;
    try {
      if (evaluateField(mine, names, budget) === true) return { kind: "over", state: "ignored", reason: "mine" };
    } catch (error) {
      if (!(error instanceof TooExpensive)) throw error;
    }
    const found = route === null ? null : findRoute(route, names, budget);
    if (found !== null && "reason" in found) return { kind: "over", state: "unrouted", reason: found.reason };
    routed = found;
  }
  const evaluation = new Evaluation(scene, budget, routed);
  for (const [index, event] of definition.events.entries()) {
    if (index < scene.from.event) continue;
    yield;
    if (yield* evaluation.event(index, event)) break;
  }
  return evaluation.result();
}

type Route = NonNullable<NonNullable<IntegrationFields["webhook"]>["route"]>;

function findRoute(
  { by, to }: Route,
  names: (field: string) => Names,
  budget: Budget,
): RoutedPlace | { readonly reason: string } {
  try {
    const value = toText(evaluateField(by, names, budget));
    const place = Object.hasOwn(to, value) ? to[value] : undefined;
    return place ?? { reason: value === "" ? "the route's value is empty" : `no route for ${cutText(value, 255)}` };
  } catch (error) {
    if (error instanceof TooExpensive) return { reason: TOO_EXPENSIVE };
    throw error;
  }
}

/** One pass through the entries of a delivery, from a given entry on. */
class Evaluation {
  readonly #scene: EvaluationScene;
  readonly #budget: EntryBudget;
  readonly #routed: RoutedPlace | null;
  readonly #entries: EvaluatedEntry[] = [];
  #characters = 0;
  #skipped = 0;
  /** The first condition or list that could not be evaluated, and why. */
  #unread: string | null = null;
  #next: EntryPlace | null = null;
  #lookup: WantedLookup | null = null;
  #pauseAt: number;

  constructor(scene: EvaluationScene, budget: EntryBudget, routed: RoutedPlace | null) {
    this.#scene = scene;
    this.#budget = budget;
    this.#routed = routed;
    this.#pauseAt = budget.units - UNITS_A_SLICE;
  }

  result(): Evaluated {
    const [entries, skipped, next, lookup] = [this.#entries, this.#skipped, this.#next, this.#lookup];
    return { kind: "entries", entries, skipped, unread: this.#unread, next, lookup, units: this.#budget.units };
  }

  /** Evaluates the entries of an event. Returns whether the pass ends in this event. */
  *event(index: number, event: IntegrationEvent): Generator<void, boolean> {
    const { from, received } = this.#scene;
    const first = index === from.event ? from.item : 0;
    if (event.forEach === null) return first === 0 && this.#entry({ event: index, item: 0 }, event, null);
    const list = findProgram(event.forEach)?.list(received.namesFor(event.forEach), this.#budget, MAX_ENTRIES);
    if (list === undefined || "error" in list) {
      if (list?.isSpent === true) this.#fail(index, null, TOO_EXPENSIVE);
      else this.#skip({ event: index, item: null }, unreadable("forEach", list?.error ?? "it is none"));
      return false;
    }
    if (list.size === 0) this.#skip({ event: index, item: null }, { reason: "`forEach` is empty", isUnread: false });
    let item = 0;
    for (const element of list.elements) {
      if (item >= first && this.#element({ event: index, item }, event, element)) return true;
      item += 1;
      if (this.#budget.units >= this.#pauseAt) continue;
      this.#pauseAt = this.#budget.units - UNITS_A_SLICE;
      yield;
    }
    const left = list.size - MAX_ENTRIES;
    if (left > 0) this.#fail(index, null, `${TOO_MANY}: ${left} after the first ${MAX_ENTRIES}`);
    return false;
  }

  #element(place: EntryPlace, event: IntegrationEvent, element: Outcome): boolean {
    if ("value" in element) return this.#entry(place, event, { value: element.value });
    if (this.#isFull(place)) return true;
    this.#fail(place.event, place.item, element.error);
    return false;
  }

  /** Evaluates one entry. Returns whether the pass ends at this entry. */
  #entry(place: EntryPlace, event: IntegrationEvent, item: { readonly value: Json } | null): boolean {
    if (this.#isFull(place)) return true;
    const shown = { event: place.event, item: item === null ? null : place.item };
    try {
      return this.#evaluate(place, event, { item, shown });
    } catch (error) {
      if (!(error instanceof TooExpensive)) throw error;
      this.#fail(shown.event, shown.item, TOO_EXPENSIVE);
      return false;
    }
  }

  #evaluate(
    place: EntryPlace,
    event: IntegrationEvent,
    { item, shown }: { item: { readonly value: Json } | null; shown: Pick<EvaluatedEntry, "event" | "item"> },
  ): boolean {
    const { received, from, captures: given, places, leavesOutLookups = false } = this.#scene;
    const budget = this.#budget;
    budget.room = createRawSizeBudget();
    const named: Names = item === null ? {} : { item: toValue(item.value, DYN) };
    const names = (field: string): Names => ({ ...received.namesFor(field), ...named });
    const unmet = event.when === null ? null : whyUnmet(evaluateText(event.when, names(event.when), budget));
    if (unmet !== null) {
      this.#skipped += 1;
      this.#skip(shown, unmet);
      return false;
    }
    const isFrom = place.event === from.event && place.item === from.item;
    const captures = isFrom ? given : null;
    const { headers, cursor } = received;
    const shared = { headers, ...(cursor === null ? {} : { cursor }), ...(item === null ? {} : { item: item.value }) };
    if (event.lookup !== null && captures === null && !leavesOutLookups) {
      this.#next = place;
      this.#lookup = { place, item: shown.item, values: writeJson(shared) };
      return true;
    }
    const captured = toCaptured(event, captures);
    const raise = evaluateRaise(event, {
      budget,
      places,
      routed: this.#routed,
      names: (field) => ({ ...names(field), ...toNames(captured) }),
      values: () => writeJson({ ...shared, ...captured }),
    });
    this.#characters += writeJson(raise).length;
    this.#entries.push({ ...shown, raise });
    return false;
  }

  #skip(entry: Pick<EvaluatedEntry, "event" | "item">, { reason, isUnread }: Unmet): void {
    this.#scene.skipped?.(entry, reason);
    if (isUnread) this.#unread ??= `event ${entry.event}: ${reason}`;
  }

  #fail(event: number, item: number | null, reason: string): void {
    this.#entries.push({ event, item, outcome: "failed", reason });
  }

  /**
   * Returns whether the pass ends before `place`, because the result is full or the delivery has reached its limits.
   */
  #isFull(place: EntryPlace): boolean {
    const count = this.#entries.length;
    if (count >= this.#scene.entriesLeft || this.#budget.units <= 0) {
      const reason = this.#budget.units <= 0 ? TOO_EXPENSIVE : TOO_MANY;
      this.#fail(place.event, null, `${reason}: it and all entries after it are skipped`);
      return true;
    }
    if (count < MAX_RESULT_ENTRIES && this.#characters < MAX_RESULT_CHARACTERS) return false;
    this.#next = place;
    return true;
  }
}

/** Why an entry raises nothing, and whether a failed expression is the reason. */
interface Unmet {
  readonly reason: string;
  readonly isUnread: boolean;
}

/**
 * Returns why a `when` does not accept its entry; null if it does. Throws {@link TooExpensive} if the budget is spent.
 */
function whyUnmet(outcome: Outcome): Unmet | null {
  if ("value" in outcome) return outcome.value === true ? null : { reason: "`when` is not true", isUnread: false };
  if (outcome.isSpent === true) throw new TooExpensive();
  return unreadable("when", outcome.error);
}

function unreadable(field: string, error: string): Unmet {
  return { reason: `\`${field}\` has no value: ${error}`, isUnread: true };
}

/**
 * Returns the captures of the event's lookup by name. A capture is null if it has no value or the lookup did not run.
 */
function toCaptured(event: IntegrationEvent, captures: EvaluationScene["captures"]): Record<string, Json> {
  const names = Object.keys(event.lookup?.capture ?? {});
  return Object.fromEntries(names.map((name) => [name, captures?.[name] ?? null]));
}

function toNames(json: Readonly<Record<string, Json>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, toValue(value, DYN)]));
}
