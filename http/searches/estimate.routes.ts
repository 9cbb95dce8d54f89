import { z } from "zod";
import type { JudgingSetup } from "../../actors/lines/fingerprint.js";
import { ReplayMemory } from "../../actors/replays/replay/replay-memory.js";
import { findStoredSet, setNotFound } from "../../actors/replays/sets/replay-set.queries.js";
import { stationLeft } from "../../actors/replays/sets/replay-set.transitions.js";
import { findStationNow } from "../../actors/replays/sets/run-refusal.js";
import { estimateSchema } from "../../actors/searches/reads/search-schemas.js";
import { readSearchBasis } from "../../actors/searches/search/search-basis.js";
import { estimateSearch } from "../../actors/searches/starting/estimate-search.js";
import type { Runtime } from "../../runtime/runtime.js";
import { granted } from "../wire/refused.js";
import type { Route } from "../wire/route.js";
import { subjectRoute } from "../wire/subject-route.js";
import { searchedStationSubject } from "./search-subjects.js";
import { budget, exampleBudget, objective, setId } from "./search-terms.js";

interface EstimateRoutesOptions {
  readonly runtime: Runtime;
  readonly judging: JudgingSetup;
}

/** The route that estimates a search, for callers who may read the team's replays. It writes nothing. */
export function estimateRoutes({ runtime, judging }: EstimateRoutesOptions): readonly Route[] {
  const terms = { judging, memory: new ReplayMemory() };
  return [
    subjectRoute(searchedStationSubject(runtime, "read"), {
      method: "POST",
      path: "/api/teams/{teamId}/lines/{lineId}/stations/{stationId}/searches/estimate",
      isServedReadOnly: true,
      isCheckedFirst: true,
      summary: "Estimate the work and the maximum cost of a search, and what makes its result unreliable",
      description:
        "Stores nothing: `read` is enough. Assumes that the tasks with the most expensive runs are held out.",
      access: "any",
      body: z.strictObject({ setId, budget, objective }),
      example: { setId: "rset_1", budget: exampleBudget, objective: "success" },
      answers: { 200: estimateSchema },
      problems: ["invalid", "conflict"],
      handle: async ({ body: asked, pause }, { workspaceId, teamId, lineId, stationId }) => {
        const { reading } = runtime;
        const set = findStoredSet(reading, workspaceId, asked.setId);
        const isOfStation = set?.teamId === teamId && set.lineId === lineId && set.stationId === stationId;
        if (set === undefined || !isOfStation) return setNotFound(asked.setId);
        if (findStationNow(reading, workspaceId, set).station === undefined) return stationLeft;
        const basis = readSearchBasis(reading, workspaceId, set, terms);
        await pause();
        return { status: 200, body: granted(estimateSearch(basis, asked)) };
      },
    }),
  ];
}
