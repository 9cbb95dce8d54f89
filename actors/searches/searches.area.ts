import { defineArea } from "../area.js";
import { type CommitEffectOptions, commitEffect } from "../config-pull-requests/commit.effects.js";
import { editStation } from "../config-pull-requests/edit/edit-station.js";
import { type OpenEffectOptions, openConfigEffect } from "../config-pull-requests/open.effects.js";
import { judgesNothing, type ReplayJudging } from "../replays/judging/model-terms.js";
import { searchCandidateInputs, searchCandidates } from "./candidates/search-candidate.table.js";
import { searchIterationActor } from "./iterations/search-iteration.machine.js";
import { searchIterations } from "./iterations/search-iteration.table.js";
import { searchRunOwner } from "./iterations/search-run-owner.js";
import { findPickedConfig } from "./reads/picked-config.view.js";
import { searchTopicView } from "./reads/search-topic.view.js";
import { searchActor } from "./search/search.machine.js";
import { searchRetention } from "./search/search.retention.js";
import { searchInputs } from "./search/search.table.js";
import { searchesLeavingSubscriber } from "./search/searches-leaving.js";
import { describeSearchesUnderWay } from "./search/team-in-use.js";

/**
 * The area of searches for better configs. It also has the effects of config pull requests, because these effects read
 * the picked config.
 */
export const searchesArea = defineArea({
  name: "searches",
  inUse: { team: describeSearchesUnderWay },
  actors: ({ judging = judgesNothing }: { readonly judging?: ReplayJudging }) => [
    searchActor(judging),
    searchIterationActor(judging),
  ],
  tables: [searchRetention, searchInputs, searchIterations, searchCandidates, searchCandidateInputs],
  subscribers: [searchesLeavingSubscriber],
  runOwners: [searchRunOwner],
  effects: ({
    codeHost,
    reading,
    clock,
    baseUrl,
  }: Omit<CommitEffectOptions & OpenEffectOptions, "findPicked" | "editStation">) => [
    commitEffect({ codeHost, reading, findPicked: findPickedConfig, editStation, clock }),
    openConfigEffect({ codeHost, reading, findPicked: findPickedConfig, baseUrl }),
  ],
  topics: () => ({ search: searchTopicView }),
});
