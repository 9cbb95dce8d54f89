import { defineArea } from "../area.js";
import type { JudgingSetup } from "../lines/fingerprint.js";
import { searchBudgets } from "./budget/search-budget.table.js";
import { madeCandidateSource, madeCandidates } from "./candidates/made-candidate.table.js";
import { replayCandidateKind } from "./candidates/replay-candidate.kind.js";
import { replayCopies } from "./copies/replay-copy.table.js";
import { replayRunOwner } from "./copies/replay-run-owner.js";
import { judgesNothing, type ReplayJudging } from "./judging/model-terms.js";
import { replayJudgings } from "./judging/replay-judging.table.js";
import { replayPairs } from "./judging/replay-pair.table.js";
import { replayRechecks } from "./judging/replay-recheck.table.js";
import { replayVerdicts } from "./judging/replay-verdict.table.js";
import { replayTopicView } from "./reads/replay-topic.view.js";
import { replayActor } from "./replay/replay.machine.js";
import { replayRetention } from "./replay/replay.retention.js";
import { replayInputs } from "./replay/replay-input.table.js";
import { ReplayMemory } from "./replay/replay-memory.js";
import { replayWatchers } from "./replay/replay-watcher.table.js";
import { describeReplaysUnderWay } from "./replay/team-in-use.js";
import { dueHolds } from "./sets/entry-commits.js";
import { commitHoldWalks } from "./sets/entry-commits.migration.js";
import { replayEntries, replaySets } from "./sets/replay-set.table.js";
import { replaySetTopicView } from "./sets/replay-set-topic.view.js";
import { replaySetsActor } from "./sets/replay-sets.machine.js";
import { setsDissolvingSubscriber } from "./sets/sets-dissolving.js";

/** Replay sets and replays: past runs repeated with another config. */
export const replaysArea = defineArea({
  name: "replays",
  kinds: () => [replayCandidateKind],
  inUse: { team: describeReplaysUnderWay },
  actors: ({ judging = judgesNothing }: { readonly judging?: ReplayJudging }) => [
    replaySetsActor(judging),
    replayActor(judging.terms),
  ],
  tables: [
    replaySets,
    replayEntries,
    dueHolds,
    replayRetention,
    replayInputs,
    replayWatchers,
    searchBudgets,
    replayCopies,
    replayVerdicts,
    replayPairs,
    replayRechecks,
    replayJudgings,
    madeCandidates,
  ],
  directorySources: () => [madeCandidateSource],
  subscribers: [setsDissolvingSubscriber],
  runOwners: [replayRunOwner],
  topics: ({ judging }: { readonly judging: JudgingSetup }) => {
    const memory = new ReplayMemory();
    return { "replay-set": replaySetTopicView({ judging, memory }), replay: replayTopicView(memory) };
  },
  migrations: [{ to: 9, title: "the commits of replay sets are held", walks: commitHoldWalks }],
});
