import { writeJson } from "../../exact-json.js";
import {
  isKnown,
  type JsonPath,
  plainValue,
  refuse,
  refuseComputed,
  type Source,
  toPlace,
  valueAt,
} from "./edit-source.js";
import { type FileAttribute, findFile } from "./file-attribute.js";
import { type FoundStation, memberNamed, refuseRepeated } from "./find-station.js";
import { type Holder, type Member, type SyntaxNode, toHolder, toInner } from "./hcl-syntax.js";
import { insertAttribute, type Manner } from "./insert-attribute.js";
import { type Replacing, replaceMembers, replaceValue } from "./replace-value.js";
import type { Splice } from "./splice.js";
import { findMeaning, meansLive, type StationChange, toName } from "./station-changes.js";
import type { WantedStation } from "./station-edit.js";
import { isList, isObject, writeWanted } from "./value-text.js";

/** The edit for one changed attribute: splices in the source, or new text for the file that the attribute reads. */
export type AttributeEdit = { readonly change: StationChange } & (
  | { readonly splices: readonly Splice[]; readonly path: JsonPath }
  | { readonly file: FileAttribute; readonly node: SyntaxNode }
);

/** The source and station in which an attribute is edited. */
export interface Editing {
  readonly source: Source;
  readonly found: FoundStation;
  readonly live: WantedStation["live"];
  readonly wanted: WantedStation["wanted"];
}

/** Returns the edit for one changed attribute. Refuses with `computed`, `changed-meanwhile` or `ambiguous`. */
export function editAttribute(editing: Editing, change: StationChange): AttributeEdit {
  const { source } = editing;
  const { holder, path } = descend(editing, change);
  const name = change.path.at(-1) ?? "";
  const at = [...path, name];
  const member = memberNamed(holder, name);
  if (member === undefined) return editUnwritten(editing, { holder, path: at }, change);
  const file = findFile(source, member.value);
  // The result of `chomp` cannot end with a line break.
  const isWritable = typeof change.now === "string" && !(file?.isChomped === true && /[\r\n]$/.test(change.now));
  if (file !== null && isWritable) return { file, node: member.value, change };
  if (!isKnown(source, member.value)) refuseComputedChange(source, member.value, change);
  const json = valueAt(source.values, at) ?? null;
  refuseChanged(editing, { node: member.node, json: plainValue(json) }, change);
  const splices = replaceValue(toReplacing(editing, change), { node: member.value, json }, change.now);
  return { change, splices, path: at };
}

/** Returns the object or block that contains the attribute, by following all steps of the path except the last. */
function descend({ source, found }: Editing, change: StationChange) {
  let holder = found.station;
  let path = found.path;
  for (const name of change.path.slice(0, -1)) {
    const member = memberNamed(holder, name);
    const block = holder.blocks.find(({ type }) => type === name);
    const node = member === undefined ? block?.node : toInner(member.value);
    if (member !== undefined && node?.type !== "object") refuseComputedChange(source, member.value, change);
    if (node === undefined) throw new Error(`nothing is written at ${name}`);
    path = [...path, name, ...(member === undefined ? [0] : [])];
    holder = toHolder(source.text, node);
    refuseRepeated(source, holder);
  }
  return { holder, path };
}

/** Whether the source writes an attribute of the station as an object or as exactly one block. */
export function writesMembers({ source, found }: Pick<Editing, "source" | "found">, attribute: string): boolean {
  const member = memberNamed(found.station, attribute);
  if (member === undefined) return found.station.blocks.filter(({ type }) => type === attribute).length === 1;
  // An expression with an unknown value counts as an object here. A later edit of its members is refused.
  return toInner(member.value).type === "object" || !isKnown(source, member.value);
}

/** Edits an attribute that has no assignment: the attribute is missing, or the source writes it as blocks. */
function editUnwritten(
  editing: Editing,
  { holder, path }: { readonly holder: Holder; readonly path: JsonPath },
  change: StationChange,
): AttributeEdit {
  const { source } = editing;
  const name = change.path.at(-1) ?? "";
  const dynamic = holder.blocks.find(({ type, labels }) => type === "dynamic" && labels[0] === name);
  if (dynamic !== undefined) refuseComputedChange(source, dynamic.node, change);
  const blocks = holder.blocks.filter(({ type }) => type === name);
  if (blocks.length > 0) return editBlocks(editing, { nodes: blocks.map(({ node }) => node), path }, change);
  refuseChanged(editing, { node: holder.node, json: undefined }, change);
  const { manner } = toReplacing(editing, change);
  const splice = insertAttribute(manner, holder, { name, value: change.now });
  return { change, splices: [splice], path };
}

function editBlocks(
  editing: Editing,
  { nodes, path }: { readonly nodes: readonly SyntaxNode[]; readonly path: JsonPath },
  change: StationChange,
): AttributeEdit {
  const { source } = editing;
  const { now } = change;
  const written = valueAt(source.values, path) ?? null;
  const listed = Array.isArray(written) ? written : [];
  for (const node of nodes) {
    const computed = toHolder(source.text, node).members.find(({ value }) => !isKnown(source, value));
    if (computed !== undefined) refuseComputedChange(source, computed.value, change);
  }
  const [first = source.root] = nodes;
  refuseChanged(editing, { node: first, json: plainValue(isList(change.was) ? written : (listed[0] ?? null)) }, change);
  if (!isList(now) || now.length !== nodes.length || !now.every(isObject)) {
    const message = `At ${toPlace(source, first)}, ${toName(change)} is written as blocks. The edit cannot add or remove blocks.`;
    refuse("ambiguous", message, { attribute: toName(change), wanted: writeWanted(now) });
  }
  const replacing = toReplacing(editing, change);
  const splices = nodes.flatMap((node, index) => {
    const value = now[index];
    const members = valueAt(source.values, [...path, index]);
    if (value === undefined || typeof members !== "object" || members === null || listed.length !== nodes.length)
      return [];
    return replaceMembers(replacing, { node, json: Object.fromEntries(Object.entries(members)) }, value);
  });
  return { change, splices, path };
}

function toReplacing({ source, found, live }: Editing, change: StationChange): Replacing {
  const attribute = toName(change);
  return {
    manner: toManner(source, found),
    meaning: (element) => findMeaning(live, change.path, [element]) ?? writeJson(element),
    refuseLoss: (node) => {
      const message = `At ${toPlace(source, node)}, the edit would delete a comment in ${attribute}, or keep it beside another value.`;
      return refuse("ambiguous", message, { attribute, wanted: writeWanted(change.now) });
    },
  };
}

function toManner({ text }: Source, { station, all }: FoundStation): Manner {
  const gaps = all.flatMap(({ members }) =>
    members.map(({ nameNode, value }) => text.slice(nameNode.end, value.start)),
  );
  return {
    text,
    alike: all.filter((each) => each !== station),
    isAligned: gaps.some((gap) => /^[ \t]{2,}[=:]/.test(gap)),
  };
}

/** Refuses with `changed-meanwhile` if the value in the source differs from the value in the live station. */
function refuseChanged(
  { source, live, wanted }: Editing,
  { node, json }: { readonly node: Member["node"]; readonly json: Parameters<typeof meansLive>[2] },
  change: StationChange,
): void {
  if (meansLive(live, change, json)) return;
  const attribute = toName(change);
  const holdsWanted = meansLive(wanted, { ...change, was: change.now }, json);
  const what =
    json === undefined
      ? `${attribute} is not written, while the live station has it`
      : `${attribute} is not that of the live station`;
  const message = holdsWanted ? `${attribute} is as wanted already` : what;
  refuse("changed-meanwhile", `At ${toPlace(source, node)}, ${message}.`, {
    attribute,
    wanted: writeWanted(change.now),
  });
}

function refuseComputedChange(source: Source, node: SyntaxNode, change: StationChange): never {
  return refuseComputed(source, { attribute: toName(change), node, wanted: change.now });
}
