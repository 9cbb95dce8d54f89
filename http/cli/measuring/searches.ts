import { listAll, type Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError } from "../command/exit-codes.js";
import { parseIdPrefix, pickId } from "../command/id-prefix.js";
import { type NamedTeam, orNull } from "../command/names.js";
import { FEW, toAmount, toCosts, toCount, toMoney, toPercent, toPoints, toRange } from "./figures.js";

export type Search = Schema<"Search">;
export type Candidate = Schema<"SearchCandidateOutput">;

/** A search in its team. */
export interface FoundSearch {
  readonly team: NamedTeam;
  readonly searchId: string;
}

/**
 * Finds a search by a unique prefix of its id, and makes it the folder's default. Default: the search that commands in
 * this folder last used, or the team's newest search.
 */
export async function findSearch(context: Context, name: string | undefined): Promise<FoundSearch> {
  const team = await context.names.team();
  const searchId = name === undefined ? await findLast(context, team) : await findNamed(context, team, name);
  context.remember({ workspace: team.workspace.slug, team: team.key, search: searchId });
  return { team, searchId };
}

async function findNamed({ client, signal }: Context, team: NamedTeam, name: string): Promise<string> {
  const prefix = parseIdPrefix("srch", name);
  if (prefix?.isWhole === true) return prefix.text;
  const ids: string[] = [];
  const call = { path: { teamId: team.id }, signal };
  for await (const { id } of listAll(client, "/api/teams/{teamId}/searches", "before", call)) ids.push(id);
  const picked = pickId(name, ids);
  if (ids.includes(picked)) return picked;
  throw new CommandError(`the team ${team.key} has no search ${name}: signalbox search show shows the last one`);
}

/**
 * Finds the search that commands in this folder last used. If there is none, or if that search was deleted, finds the
 * team's newest search.
 */
async function findLast(context: Context, team: NamedTeam): Promise<string> {
  const { search: last } = context.defaults;
  if (last !== undefined && (await orNull(readSearch(context, { team, searchId: last }))) !== null) return last;
  const { client, signal } = context;
  const call = { path: { teamId: team.id }, query: { limit: 1 }, signal };
  const [newest] = (await client.get("/api/teams/{teamId}/searches", call)).items;
  if (newest !== undefined) return newest.id;
  throw new CommandError("the team has no search: start one with signalbox search start");
}

export async function readSearch({ client, signal }: Context, { team, searchId }: FoundSearch): Promise<Search> {
  return client.get("/api/teams/{teamId}/searches/{searchId}", { path: { teamId: team.id, searchId }, signal });
}

/**
 * Formats the progress of a search, such as `searching: iteration 1 of 4, 3 candidates, 4.2 of 20 USD, waits for a
 * runner`.
 */
export function toSearchProgress({ state, iterationsRun, proposed, spent, budget, waiting }: Search): string {
  const parts = [
    `${state}: iteration ${iterationsRun} of ${budget.iterations}`,
    toCount(proposed, "candidate"),
    `${toAmount(spent.amount)} of ${toMoney(budget.ceiling)}`,
    ...(waiting === null ? toNext(state, proposed) : [`waits for a ${waiting}`]),
  ];
  return parts.join(", ");
}

/** Says what a search does before its agent proposes the first candidates; empty afterwards. */
function toNext(state: Search["state"], proposed: number): readonly string[] {
  if (state === "seeding") return ["measures the live config first, with replays of the set"];
  return state === "searching" && proposed === 0 ? ["waits for the agent's first proposals"] : [];
}

/**
 * Says the result of a search in one sentence. The gain is measured on held-out tasks, which the agent of the search
 * does not see.
 */
export function toSearchSentence(search: Search): string {
  const { best, bestBecause, seed, endedAt } = search;
  if (endedAt === null) return toSearchProgress(search);
  const why = bestBecause === null ? "" : `: ${bestBecause.text}`;
  const found = search.candidates.find(({ candidateId }) => candidateId === best?.candidateId);
  if (found === undefined) return best === null ? "nothing was found" : `no better config was found${why}`;
  const gain = found.heldOutGain;
  const parts = [
    `best: ${found.name}`,
    ...(gain === null
      ? []
      : [
          `${toPercent(found.heldOutScore)} against ${toPercent(seed.heldOutScore)} on held-out tasks`,
          `${toPoints(gain.gain)} points ${toRange(gain)}`,
          toCount(gain.tasks, "task"),
        ]),
    toCosts(found.costPerRun, seed.costPerRun),
    ...(gain?.few === true || found.onlyOnSeenTasks === "too-few-held-out" ? [FEW] : []),
  ];
  return `${parts.join(", ")}${why}`;
}
