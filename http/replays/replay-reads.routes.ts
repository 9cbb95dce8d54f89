import { z } from "zod";
import { readSetTerms, type SetTerms } from "../../actors/replays/figures/replay-figures.js";
import { type ListedReplayView, listedReplaySchema, replaySchema } from "../../actors/replays/reads/replay-schemas.js";
import type { ReplayRow } from "../../actors/replays/replay/replay.js";
import { findStoredReplay, replaysOfSet } from "../../actors/replays/replay/replay.queries.js";
import { BoundedList } from "../wire/bounded-list.js";
import { readPage } from "../wire/page-reading.js";
import { idCursor, nextPage, pageSize } from "../wire/paging.js";
import { replaySubject, setSubject } from "../wire/replay-subjects.js";
import type { Route } from "../wire/route.js";
import { subjectRoute } from "../wire/subject-route.js";
import { type ReplayRead, type ReplayReads, readAtOnce, readListedReplay, readReplay } from "./replay-reading.js";

/** Maximum number of replays in a list, and maximum size of the list in bytes. */
const MAX_LISTED = 200;
const MAX_LIST_BYTES = 4 * 1024 * 1024;

const listed = z.strictObject({
  items: z.array(listedReplaySchema).describe("The replays of the set, newest first."),
  next: nextPage("before", " A page has at most 4 MiB."),
});

/** The routes that read replays. */
export function replayReadRoutes(reads: ReplayReads): readonly Route[] {
  return [listRoute(reads), readRoute(reads)];
}

function listRoute(reads: ReplayReads): Route {
  return subjectRoute(setSubject(reads.runtime, "read"), {
    method: "GET",
    path: "/api/teams/{teamId}/replay-sets/{setId}/replays",
    summary: "List the replays of a set, newest first",
    description:
      "Omits check outputs, reasons and claims; read a single replay for these. A set keeps at most 200 replays: " +
      "starting another removes the oldest ended ones.",
    access: "any",
    query: z.strictObject({
      before: idCursor("rep", "`next` of the previous page; returns older replays."),
      limit: pageSize(MAX_LISTED).describe("The number of replays."),
    }),
    answers: { 200: listed },
    handle: async (request, { workspaceId, set }) => {
      const { limit, before } = request.query;
      const page = { limit: limit + 1, before };
      const found = await readPage(reads.runtime, request, replaysOfSet({ workspaceId, setId: set.id }, page));
      return readAtOnce(reads, request, async (read) => {
        const terms = readSetTerms(read.view, workspaceId, set, read.judging);
        const { items, json } = await listReplays(read, terms, found.slice(0, limit));
        const next = items.length < found.length ? (items.at(-1)?.id ?? null) : null;
        return { status: 200, body: { items, next }, json: `{"items":${json},"next":${JSON.stringify(next)}}` };
      });
    },
  });
}

async function listReplays(read: ReplayRead, terms: SetTerms, found: readonly ReplayRow[]) {
  const items = new BoundedList<ListedReplayView>(MAX_LIST_BYTES);
  for (const { id } of found) {
    const replay = findStoredReplay(read.view, terms.workspaceId, id);
    if (replay !== undefined && !items.add(await readListedReplay(read, terms, replay))) break;
    await read.pause();
    read.signal.throwIfAborted();
  }
  return items;
}

function readRoute(reads: ReplayReads): Route {
  return subjectRoute(replaySubject(reads.runtime, "read"), {
    method: "GET",
    path: "/api/teams/{teamId}/replays/{replayId}",
    summary: "Read a replay",
    description: "Includes its totals, its gain, each copy, and each task beside the baseline replay.",
    access: "any",
    answers: { 200: replaySchema },
    handle: (request, { workspaceId, replay: { id }, set }) =>
      readAtOnce(reads, request, async (read) => {
        const replay = findStoredReplay(read.view, workspaceId, id);
        if (replay === undefined) return { refused: "not-found" };
        const terms = readSetTerms(read.view, workspaceId, set, read.judging);
        return { status: 200, ...(await readReplay(read, terms, replay)) };
      }),
  });
}
