import { isDeepStrictEqual } from "node:util";
import { isKnown, type JsonPath, plainValue, refuse, type Source, toPlace, valueAt } from "./edit-source.js";
import { type FoundStation, findStation, type SoughtStation } from "./find-station.js";
import { type SyntaxNode, toHolder, toInner } from "./hcl-syntax.js";
import type { Json } from "./hcl-values.js";
import { means, type StationChange } from "./station-changes.js";
import type { WantedStation } from "./station-edit.js";

/** A change, and the path of its value in the edited source. */
export interface ProvenChange {
  readonly path: JsonPath;
  readonly change: StationChange;
}

/**
 * Refuses with `not-proven` unless only the wanted values changed in the edited source. Also refuses unless each wanted
 * value is a literal in the source. The parsed values alone do not show whether a value is a literal.
 */
export function proveEdit(
  { before, after }: { readonly before: Source; readonly after: Source },
  changes: readonly ProvenChange[],
  wanted: WantedStation & SoughtStation,
): void {
  const without = ({ values }: Source) => changes.reduce<Json>((rest, { path }) => withoutAt(rest, path), values);
  const at = toPlace(before, findStation(before, wanted).station.node);
  if (!isDeepStrictEqual(without(before), without(after))) {
    refuse("not-proven", `At ${at}, the edit would change more than the wanted values.`);
  }
  const found = findStation(after, wanted);
  for (const { path, change } of changes) {
    const isWanted = means(wanted.wanted, change.path, plainValue(valueAt(after.values, path) ?? null));
    if (isWanted && isWrittenAt(after, found, path.slice(found.path.length))) continue;
    const attribute = change.path.join(".");
    refuse("not-proven", `At ${at}, the edited source would not contain the wanted ${attribute} as a plain value.`, {
      attribute,
    });
  }
}

/**
 * Whether the source writes the value at a path of the station as a literal. The steps lead through objects and blocks.
 */
function isWrittenAt(source: Source, { station }: FoundStation, steps: JsonPath): boolean {
  const { text } = source;
  let holder = station;
  for (const [index, step] of steps.entries()) {
    if (typeof step === "number") continue;
    const isLast = index === steps.length - 1;
    const member = holder.members.find(({ name }) => name === step);
    const blocks = holder.blocks.filter(({ type }) => type === step).map(({ node }) => node);
    if (isLast && member !== undefined) return isKnown(source, member.value);
    if (isLast) return blocks.length > 0 && blocks.every((block) => holdsLiterals(source, block));
    const below = member === undefined ? blocks[0] : toInner(member.value);
    if (below === undefined) return false;
    holder = toHolder(text, below);
  }
  return false;
}

function holdsLiterals(source: Source, block: SyntaxNode): boolean {
  const { members, blocks } = toHolder(source.text, block);
  return blocks.length === 0 && members.every(({ value }) => isKnown(source, value));
}

function withoutAt(whole: Json, path: JsonPath): Json {
  const [step, ...below] = path;
  if (typeof whole !== "object" || whole === null) return whole;
  if (Array.isArray(whole)) return whole.map((each, index) => (index === step ? withoutAt(each, below) : each));
  const members = Object.entries(whole).filter(([name]) => below.length > 0 || name !== step);
  return Object.fromEntries(members.map(([name, each]) => [name, name === step ? withoutAt(each, below) : each]));
}
