import type { StreamTopic } from "../access/visibility/stream-topic.js";
import { listOpenCalls } from "../runs/open-call.table.js";
import { runTopicView } from "../runs/run-topic.view.js";
import { toolCalls } from "./tool-call.table.js";
import { streamedToolCallView } from "./tool-call.view.js";

/** The topic of a run, with the run's open tool calls. */
export const runWithCallsTopicView: StreamTopic = {
  ...runTopicView,
  view: (reading, at) => {
    const shown = runTopicView.view(reading, at);
    if (typeof shown !== "object" || shown === null) return shown;
    const { workspaceId, id: runId } = at;
    const calls = listOpenCalls(reading, workspaceId, runId).flatMap(({ callId }) => {
      const call = toolCalls.get(reading, workspaceId, runId, callId);
      return call === undefined ? [] : [streamedToolCallView(call)];
    });
    return { ...shown, calls };
  },
};
