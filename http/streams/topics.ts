import { resourceTopic } from "../../actors/access/visibility/resource-topic.view.js";
import type { StreamTopic } from "../../actors/access/visibility/stream-topic.js";
import { replayCheckTopicView } from "../../actors/checks/check-topic.view.js";
import { hookOccurrenceTopicView } from "../../actors/hooks/hook-occurrence-topic.view.js";
import type { JudgingSetup } from "../../actors/lines/fingerprint.js";
import { pullRequestTopicView } from "../../actors/pull-requests/pull-request-topic.view.js";
import { replayTopicView } from "../../actors/replays/reads/replay-topic.view.js";
import { ReplayMemory } from "../../actors/replays/replay/replay-memory.js";
import { replaySetTopicView } from "../../actors/replays/sets/replay-set-topic.view.js";
import type { Kind } from "../../actors/resources/kind.js";
import { searchTopicView } from "../../actors/searches/reads/search-topic.view.js";
import { taskTopicView, teamTopic } from "../../actors/tasks/task-topic.view.js";
import { runWithCallsTopicView } from "../../actors/tool-calls/run-topic.view.js";

/** The dependencies of the topics. */
export interface TopicParts {
  readonly kinds: readonly Kind[];
  readonly judging: JudgingSetup;
}

/** The topics of the stream by kind, `<kind>/<id>`. Each area adds one line. */
export function createTopics({ kinds, judging }: TopicParts): ReadonlyMap<string, StreamTopic> {
  const memory = new ReplayMemory();
  return new Map<string, StreamTopic>([
    ["workspace", resourceTopic(kinds, "workspace")],
    ["team", teamTopic(resourceTopic(kinds, "team"))],
    ["task", taskTopicView],
    ["run", runWithCallsTopicView],
    ["pull-request", pullRequestTopicView],
    ["hook-occurrence", hookOccurrenceTopicView],
    ["replay-set", replaySetTopicView({ judging, memory })],
    ["replay", replayTopicView(memory)],
    ["search", searchTopicView],
    ["replay-check", replayCheckTopicView],
  ]);
}
