import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import { type StreamTopic, type TopicSubject, toAll } from "../../access/visibility/stream-topic.js";
import { listCopies, replayCopies } from "../copies/replay-copy.table.js";
import { replays } from "../replay/replay.table.js";
import type { ReplayMemory } from "../replay/replay-memory.js";
import { listedCopyView } from "./copy.view.js";
import { findMemberWorkspace } from "./member-workspace.js";
import { totalsView } from "./replay.view.js";
import { getParts, readReplayRows } from "./replay-parts.js";
import { replayRowView } from "./replay-row.view.js";

const copyChange = z.object({ type: z.literal("copy"), place: z.int(), repeat: z.int() });

/**
 * The topic of a replay, for callers who may read the team's outcomes. `workspaceOf` looks for the replay in the
 * caller's workspaces, because replay ids are stored by workspace. A change of a copy is sent as the copy's current
 * view, with the totals if the copy has a result. The copy's view has no output, reasons or claims, so the size of the
 * message does not grow with the replay.
 */
export function replayTopicView(memory: ReplayMemory): StreamTopic {
  return {
    workspaceOf: (reading, caller, id) =>
      findMemberWorkspace(reading, caller, (workspaceId) => replays.get(reading, workspaceId, id) !== undefined),
    audience: (reading, { workspaceId, id }) => {
      const replay = replays.get(reading, workspaceId, id);
      return replay === undefined ? undefined : { outcomesOf: replay.teamId };
    },
    view: (reading, { workspaceId, id }) => {
      const replay = replays.get(reading, workspaceId, id);
      if (replay === undefined) return undefined;
      const rows = readReplayRows(reading, workspaceId, { replayId: id });
      const copies = listCopies(reading, workspaceId, id).map((copy) => listedCopyView(getParts(rows, copy)));
      const totals = totalsView(replay, memory.getTotals(reading, workspaceId, replay));
      return { replay: replayRowView(replay), totals, copies };
    },
    change: (reading, subject, data) => {
      const { data: changed } = copyChange.safeParse(data);
      return toAll(changed === undefined ? data : copyMessage(reading, subject, { memory, ...changed }));
    },
  };
}

interface Changed {
  readonly memory: ReplayMemory;
  readonly place: number;
  readonly repeat: number;
}

function copyMessage(reading: Reading, { workspaceId, id }: TopicSubject, { memory, place, repeat }: Changed) {
  const replay = replays.get(reading, workspaceId, id);
  const row = replayCopies.get(reading, workspaceId, id, place, repeat);
  if (replay === undefined || row === undefined) return undefined;
  const copy = listedCopyView(getParts(readReplayRows(reading, workspaceId, { replayId: id, place }), row));
  if (row.result === null) return { type: "copy", copy };
  return { type: "copy", copy, totals: totalsView(replay, memory.getTotals(reading, workspaceId, replay)) };
}
