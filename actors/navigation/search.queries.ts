import type { Reading } from "../../storage/store.js";
import { listTeamsOfOutcomes } from "../access/members/team.queries.js";
import type { Caller } from "../caller.js";
import type { InSteps } from "../in-steps.js";
import { pullRequestTitles } from "../pull-requests/pull-request.table.js";
import type { Kind } from "../resources/kind.js";
import { resourceTitles } from "../resources/resource-indexes.table.js";
import { EVERYONE, searchTitles, type TitleEntry, type TitleIndex } from "../tables/title-index.js";
import { areFound, foldCase, type SearchedWords, splitWords, toSearchedWords } from "../tables/words.js";
import { taskTitles } from "../tasks/task.table.js";
import { listWorkspaceMembers } from "../workspaces/member.table.js";
import { createFindPlace, toPersonPlace, toUnder } from "./find-place.js";
import type { Place } from "./place.js";

/** Maximum number of entries to read for a word. */
const MAX_READ = 500;
/** Maximum number of people to compare, in the order of their ids. */
const MAX_PEOPLE = 500;
/** Number of people to compare in one step. */
const PEOPLE_AT_ONCE = 25;

/** Objects that a search found. */
export interface SearchResult {
  readonly places: readonly (Place & { readonly title: string })[];
  /** Whether more objects match, or may match because the search ended at a limit. */
  readonly isCut: boolean;
}

/** A search of a caller in a workspace that they see. */
export interface WantedSearch {
  readonly workspaceId: string;
  readonly q: string;
  readonly limit: number;
}

/** The part of a search that looks for words. */
interface Search {
  readonly reading: Reading;
  readonly caller: Caller;
  readonly workspaceId: string;
  readonly words: SearchedWords;
}

type Found = SearchResult["places"][number];

/**
 * Creates a function that searches objects, in steps. The search is an object's id, a `#number`, a key, or words. Each
 * word of the search must be the beginning of a word of the title.
 *
 * If the search is an object's id, that object is the only result. Otherwise objects whose title or key equals the
 * search come first. Then the results alternate between kinds, so that the many tasks do not hide objects of other
 * kinds.
 */
export function createSearch(kinds: readonly Kind[]) {
  const findPlace = createFindPlace(kinds);
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const toPlace = (workspaceId: string, { id, kind, title, teamId, address = "" }: TitleEntry): Found => {
    const known = byName.get(kind);
    return { id, kind, title, teamId, workspaceId, under: known === undefined ? address : toUnder(known, address) };
  };

  function* search(reading: Reading, caller: Caller, { workspaceId, q, limit }: WantedSearch): InSteps<SearchResult> {
    const named = yield* findPlace(reading, caller, q.trim());
    if (named?.workspaceId === workspaceId)
      return { places: [{ ...named, title: named.title ?? named.id }], isCut: false };
    const of = { reading, caller, workspaceId, words: toSearchedWords(q) };
    const entries: TitleEntry[] = [];
    let isCut = false;
    for (const [index, scope] of yield* listScopes(of)) {
      const found = searchTitles(index, reading, workspaceId, { scope, words: of.words, maxRead: MAX_READ });
      entries.push(...found.entries);
      isCut ||= found.isCut;
      yield;
    }
    const people = yield* searchPeople(of);
    const titled = entries.map((entry) => ({ ...toPlace(workspaceId, entry), also: entry.also }));
    const ranked = rank([...titled, ...people.places], foldCase(q.trim()));
    return { places: ranked.slice(0, limit), isCut: isCut || people.isCut || ranked.length > limit };
  }
  return search;
}

/** Lists the indexes to search, and the scopes of each that the caller sees. */
function* listScopes({ reading, caller, workspaceId }: Search): InSteps<readonly (readonly [TitleIndex, string])[]> {
  const teamIds = yield* listTeamsOfOutcomes(reading, caller, workspaceId);
  return [
    [resourceTitles, EVERYONE],
    [taskTitles, EVERYONE],
    ...teamIds.map((teamId) => [pullRequestTitles, teamId] as const),
  ];
}

/** Finds people by name and mail address. Workspace tokens see no people. */
function* searchPeople({ reading, caller, workspaceId, words }: Search): InSteps<SearchResult> {
  const isEmpty = words.beginnings.length + words.numbers.length === 0;
  if (caller.kind !== "person" || isEmpty) return { places: [], isCut: false };
  const members = listWorkspaceMembers(reading, workspaceId, { limit: MAX_PEOPLE });
  const places: Found[] = [];
  for (const [index, member] of members.entries()) {
    if (index > 0 && index % PEOPLE_AT_ONCE === 0) yield;
    const place = toPersonPlace(reading, workspaceId, member);
    const title = place.title ?? member.email;
    if (areFound(words, splitWords(`${title} ${member.email}`))) places.push({ ...place, title });
  }
  return { places, isCut: members.length === MAX_PEOPLE };
}

/** The order of kinds among equally good matches; those that are not listed come last. */
const kindOrder: readonly string[] = ["team", "line", "station", "task", "pull-request", "person"];

/**
 * Orders places. Exact matches come first. After them comes the best match of each kind, then the second-best match of
 * each kind, and so on.
 */
function rank(places: readonly (Found & { readonly also?: string | undefined })[], q: string): readonly Found[] {
  const counts = new Map<string, number>();
  const isExact = ({ title, also = "" }: { readonly title: string; readonly also?: string | undefined }) =>
    foldCase(title) === q || foldCase(also) === q;
  const ranked = places.map(({ also, ...place }) => {
    const nth = counts.get(place.kind) ?? 0;
    counts.set(place.kind, nth + 1);
    const order = kindOrder.indexOf(place.kind);
    return { place, isExact: isExact({ title: place.title, also }), nth, order: order < 0 ? kindOrder.length : order };
  });
  ranked.sort(
    (left, right) => Number(right.isExact) - Number(left.isExact) || left.nth - right.nth || left.order - right.order,
  );
  return ranked.map(({ place }) => place);
}
