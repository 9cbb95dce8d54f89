import type { Schema } from "../../client/entry.js";
import type { Context } from "../command/context.js";
import { CommandError, type ExitCode, exitCodes } from "../command/exit-codes.js";
import { pickId } from "../command/id-prefix.js";
import { toLine, toLines as toPrintable } from "../command/printable.js";
import { toFields } from "../command/table.js";
import type { Terminal } from "../command/terminal.js";
import { toTimeText } from "../command/time-text.js";
import { findSearch, readSearch, type Search } from "./searches.js";
import { watch } from "./watch.js";

type PullRequest = Schema<"ConfigPullRequest">;

/**
 * Opens a pull request with a candidate of a search, by default the best candidate. Waits until the pull request is
 * open or refused.
 */
export async function pickCandidate(
  context: Context,
  { search: searchName }: { readonly search?: string },
  name: string | undefined,
): Promise<ExitCode> {
  const found = await findSearch(context, searchName);
  const search = await readSearch(context, found);
  const candidateId = findCandidate(search, name);
  const { client, signal } = context;
  const teamId = found.team.id;
  const { id: pullRequestId } = await client.post(
    "/api/teams/{teamId}/searches/{searchId}/candidates/{candidateId}/pick",
    { path: { teamId, searchId: search.id, candidateId }, signal },
  );
  const path = { teamId, pullRequestId };
  const settled = await watch(context, {
    read: () => client.get("/api/teams/{teamId}/config-pull-requests/{pullRequestId}", { path, signal }),
    progress: (pullRequest) => toProgress(context.terminal, pullRequest),
    isOver: ({ state }) => state !== "opening",
    again: `the service continues: show the result with signalbox search show ${search.id}`,
  });
  context.show(settled, () => toLines(context, settled));
  return settled.state === "opened" ? exitCodes.done : exitCodes.failed;
}

/**
 * Returns the id of a candidate, by its name, its id or a unique prefix of the id. Default: the best candidate. Throws
 * a {@link CommandError} if there is no such candidate, or if the best candidate is the live config.
 */
function findCandidate({ candidates, best, bestBecause }: Search, name: string | undefined): string {
  if (name === undefined) {
    if (best !== null && !best.seed) return best.candidateId;
    const why = bestBecause === null ? "the search has not found a better config" : bestBecause.text;
    throw new CommandError(`name the candidate to pick: ${why}`);
  }
  const called = candidates.find((candidate) => candidate.name === name);
  if (called !== undefined) return called.candidateId;
  const ids = candidates.map(({ candidateId }) => candidateId);
  const picked = pickId(name, ids);
  if (ids.includes(picked)) return picked;
  const names = candidates.map((candidate) => candidate.name).join(", ");
  throw new CommandError(`the search has no candidate ${name}; there are: ${names === "" ? "none" : names}`);
}

function toProgress(terminal: Terminal, { state, waitsUntil, branch }: PullRequest): string {
  if (waitsUntil !== null) return `the code host accepts requests again: ${toTimeText(terminal, waitsUntil)}`;
  return state === "opening" ? `opening a pull request from ${branch}` : `the pull request is ${state}`;
}

function toLines({ terminal }: Context, { candidateName, url, reason, branch, repository }: PullRequest) {
  if (reason === null) return [toLine(`opened ${url} with ${candidateName}`)];
  return [
    toLine(`refused: ${reason.message}`),
    ...toFields(terminal, [
      ["candidate", candidateName],
      ["repository", repository],
      ["branch", branch],
      ["attribute", reason.attribute],
      ["computed by", reason.expression],
    ]),
    ...(reason.wanted === null ? [] : ["set by hand:", toPrintable(reason.wanted)]),
  ];
}
