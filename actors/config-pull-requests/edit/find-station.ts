import { type JsonPath, literalText, refuse, refuseComputed, type Source, toPlace, valueAt } from "./edit-source.js";
import {
  type Holder,
  type InnerBlock,
  listElements,
  type Member,
  type SyntaxNode,
  toHolder,
  toInner,
  toText,
} from "./hcl-syntax.js";
import type { ModuleInstance } from "./module-instances.js";
import type { ModuleScope, PossibleTeam } from "./module-scope.js";
import type { WantedStation } from "./station-edit.js";

/** A station and its position in the line's source. */
export interface FoundStation {
  /** The line's resource, which contains the station. */
  readonly resource: SyntaxNode;
  readonly station: Holder;
  /** Path to the station in the parsed values. */
  readonly path: JsonPath;
  /** All stations that the line writes literally, including this one. */
  readonly all: readonly Holder[];
  /** The attributes and blocks of the line's resource. */
  readonly line: Holder;
}

/** The criteria for finding a station. */
export interface SoughtStation extends Pick<WantedStation, "team" | "lineKey" | "live"> {
  readonly teamsOf: ModuleScope["listTeams"];
  /**
   * Why the module may have no instance or several instances, or may be changed by other code; null if there is no
   * problem.
   */
  readonly problem: ModuleInstance["problem"];
}

type Sought = SoughtStation;

const TYPE = "service_line";
/** The provider's name for stations, as a list attribute or as blocks. */
const STATIONS = "stations";

/**
 * Finds the station in the source. Refuses unless the line and the station are each written exactly once.
 *
 * A line belongs to the team that its `team_id` names. If the line has no `team_id`, or its `team_id` is given outside
 * of the repository, the line is accepted unless another line with this key may belong to the team.
 */
export function findStation(source: Source, sought: Sought): FoundStation {
  const { block, body, path } = findLine(source, sought);
  const { key } = sought.live;
  refuseRepeated(source, body);
  for (const name of ["count", "for_each"]) {
    const member = memberNamed(body, name);
    if (member !== undefined) refuseComputed(source, { attribute: name, node: member.value });
  }
  const dynamic = body.blocks.find(({ type, labels }) => type === "dynamic" && labels[0] === STATIONS);
  if (dynamic !== undefined) refuseComputed(source, { attribute: STATIONS, node: dynamic.node });

  const places = [...listedStations(source, body, path), ...blockStations(source, body, path)];
  const found = places.filter((place) => findKey(source, place) === key);
  const [only] = found;
  if (found.length > 1) {
    const at = found.map((each) => toPlace(source, each.holder?.node ?? each.node)).join(" and ");
    refuse("ambiguous", `The station ${key} appears more than once in the line ${sought.lineKey}: at ${at}.`);
  }
  if (only?.holder === undefined) {
    const computed = places.find((place) => findKey(source, place) === null);
    if (computed !== undefined) refuseComputed(source, { attribute: STATIONS, node: computed.node });
    refuse("not-found", `The line ${sought.lineKey} at ${toPlace(source, block.node)} has no station ${key}.`);
  }
  refuseRepeated(source, only.holder);
  const all = places.flatMap(({ holder }) => holder ?? []);
  return { resource: block.node, station: only.holder, path: only.path, all, line: body };
}

export function memberNamed({ members }: Holder, name: string): Member | undefined {
  return members.find((each) => each.name === name);
}

/**
 * Refuses an object or block that repeats a name, because HCL uses only the last value. Also refuses a computed name,
 * because this name may equal another name.
 */
export function refuseRepeated(source: Source, { members }: Holder): void {
  const seen = new Set<string>();
  for (const { name, nameNode } of members) {
    if (name === null) {
      const expression = toText(source.text, nameNode);
      refuse("ambiguous", `At ${toPlace(source, nameNode)}, a name is computed: it may be any name.`, { expression });
    }
    if (seen.has(name)) {
      refuse("ambiguous", `At ${toPlace(source, nameNode)}, ${name} appears a second time.`, { attribute: name });
    }
    seen.add(name);
  }
}

interface FoundLine {
  readonly block: InnerBlock;
  readonly body: Holder;
  readonly path: JsonPath;
}

function findLine(source: Source, sought: Sought): FoundLine {
  const { lineKey } = sought;
  const lines = toHolder(source.text, source.root)
    .blocks.filter(({ type, labels }) => type === "resource" && labels[0] === TYPE)
    .map((block) => lineAt(source, block))
    .filter((line) => isOfTeam(source, line, sought) !== "no");
  const keys = lines.map((line) => ({ line, ...keyMember(source, line.body, line.path) }));
  const named = keys.filter(({ key }) => key === lineKey).map(({ line }) => line);
  const own = named.filter((line) => isOfTeam(source, line, sought) === "yes");
  const found = own.length > 0 ? own : named;
  const [only] = found;
  if (only === undefined) {
    const computed = keys.find(({ key, member }) => key === null && member !== undefined)?.member;
    if (computed !== undefined) refuseComputed(source, { attribute: "key", node: computed.value });
    const message = `At ${source.path}:1: the file has no resource ${TYPE} with the key ${lineKey} of the team ${sought.team.key}.`;
    refuse("not-found", message);
  }
  if (found.length > 1) {
    const at = found.map(({ block }) => toPlace(source, block.node)).join(" and ");
    refuse("ambiguous", `The line ${lineKey} appears more than once: at ${at}.`);
  }
  if (isOfTeam(source, only, sought) === "maybe") refuseOtherTeam(source, only, sought);
  if (only.block.node.isBroken) {
    refuse("not-proven", `The line at ${toPlace(source, only.block.node)} is written in a way that cannot be edited.`);
  }
  return only;
}

function lineAt(source: Source, block: InnerBlock): FoundLine {
  const name = block.labels[1] ?? "";
  const path = ["resource", TYPE, name, 0];
  if (valueAt(source.values, ["resource", TYPE, name, 1]) !== undefined) {
    refuse(
      "ambiguous",
      `At ${toPlace(source, block.node)}, ${TYPE}.${name} is a resource that appears more than once.`,
    );
  }
  return { block, body: toHolder(source.text, block.node), path };
}

/**
 * Whether a line belongs to the team.
 * - `maybe`: `team_id` may also name another team, its value is unknown, or a function or an unknown index gives
 *   another team.
 * - Null: the line names no team, or its team may be given outside of the repository.
 */
function isOfTeam(
  source: Source,
  line: FoundLine,
  { team, teamsOf: listTeams }: Sought,
): "yes" | "no" | "maybe" | null {
  const { own, others, hasInput } = teamsIn(source, line, { team, teamsOf: listTeams });
  if (others.length === 0) return own.length === 0 || hasInput ? null : "yes";
  const isPlain = others.every((each) => each.team !== null && !each.isIndirect);
  return own.length === 0 && isPlain && !hasInput ? "no" : "maybe";
}

function teamsIn(
  { text }: Source,
  { body }: FoundLine,
  { team, teamsOf: listTeams }: Pick<Sought, "team" | "teamsOf">,
) {
  const written = memberNamed(body, "team_id");
  const named = written === undefined ? [] : listTeams(toText(text, written.value));
  const isOwn = ({ team: each }: PossibleTeam): boolean =>
    each !== null && each !== "input" && ("id" in each ? each.id === team.id : each.key === team.key);
  const isInput = ({ team: each }: PossibleTeam): boolean => each === "input";
  const others = named.filter((each) => !isOwn(each) && !isInput(each));
  return { own: named.filter(isOwn), others, hasInput: named.some(isInput) };
}

/** Refuses a line that may belong to another team. */
function refuseOtherTeam(source: Source, line: FoundLine, sought: Sought): never {
  const written = memberNamed(line.body, "team_id")?.value ?? line.block.node;
  const { others } = teamsIn(source, line, sought);
  const { problem } = sought;
  if (problem !== null && others.every(({ team }) => team === null))
    refuse(problem.code, `At ${toPlace(source, line.block.node)}: ${problem.message}`);
  const [first] = [...others.filter(({ team }) => team !== null), ...others].flatMap(({ team, place }) => {
    const at = place();
    return at === null ? [] : [team === null ? `its value at ${at} is unknown` : `it may be the one at ${at}`];
  });
  const at = toPlace(source, written);
  const why = first === undefined ? "" : `: ${first}`;
  const expression = toText(source.text, written);
  refuse("ambiguous", `At ${at}, team_id may be that of another team than ${sought.team.key}${why}.`, { expression });
}

/**
 * A place where a station can be written. `holder` is undefined if the station is neither a block nor a literal object.
 */
interface StationPlace {
  readonly node: SyntaxNode;
  readonly holder?: Holder;
  readonly path: JsonPath;
}

function listedStations(source: Source, body: Holder, path: JsonPath): StationPlace[] {
  const member = memberNamed(body, STATIONS);
  if (member === undefined) return [];
  const list = toInner(member.value);
  if (list.type !== "tuple") refuseComputed(source, { attribute: STATIONS, node: member.value });
  return listElements(list).map((node, index) => {
    const inner = toInner(node);
    const at = { node, path: [...path, STATIONS, index] };
    return inner.type === "object" ? { ...at, holder: toHolder(source.text, inner) } : at;
  });
}

function blockStations({ text }: Source, { blocks }: Holder, path: JsonPath): StationPlace[] {
  return blocks
    .filter(({ type }) => type === STATIONS)
    .map(({ node }, index) => ({ node, holder: toHolder(text, node), path: [...path, STATIONS, index] }));
}

/** Returns the key of a station; null if the station has no key, or an expression computes it. */
function findKey(source: Source, { holder, path }: StationPlace): string | null {
  return holder === undefined ? null : keyMember(source, holder, path).key;
}

function keyMember(source: Source, holder: Holder, path: JsonPath) {
  const member = memberNamed(holder, "key");
  const key = member === undefined ? null : literalText(source, member.value, [...path, "key"]);
  return { key, member };
}
