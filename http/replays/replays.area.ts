import { ReplayMemory } from "../../actors/replays/replay/replay-memory.js";
import type { EdgeParts, RouteEntry } from "../access/edge-parts.js";
import type { Route } from "../wire/route.js";
import { replayRoutes } from "./replay.routes.js";
import { replayReadRoutes } from "./replay-reads.routes.js";
import { replayRunRoutes } from "./replay-run.routes.js";
import { replaySetRoutes } from "./replay-set.routes.js";
import { replaySetReadRoutes } from "./replay-set-reads.routes.js";
import { replayedCandidateRoutes } from "./replayed-candidate.routes.js";

/** The routes that read replays and replay sets. They share one cache of figures. */
function replayReads({ runtime, judging }: EdgeParts): readonly Route[] {
  const reads = { runtime, judging, memory: new ReplayMemory() };
  return [
    ...replaySetReadRoutes(reads),
    ...replayReadRoutes(reads),
    ...replayRunRoutes(reads),
    ...replayedCandidateRoutes(reads),
  ];
}

/** Replay sets and replays. */
export const replaysArea: readonly RouteEntry[] = [
  { tag: "Replays", make: (parts) => replayReads(parts) },
  { tag: "Replays", make: ({ runtime, sealer }) => replaySetRoutes({ runtime, sealer }) },
  { tag: "Replays", make: ({ runtime, sealer }) => replayRoutes({ runtime, sealer }) },
];
