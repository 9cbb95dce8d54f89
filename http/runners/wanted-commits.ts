import { wantedTopic } from "../../actors/archives/archive.messages.js";
import { listWanted } from "../../actors/archives/archive.queries.js";
import type { RepositoryCommit } from "../../actors/runners/kept-commit.js";
import type { ServiceFrame } from "../../actors/runners/protocol.js";
import type { RunnerKey } from "../../actors/runners/runner.queries.js";
import { isCommitNeeded } from "../../actors/runs/run.queries.js";
import { listenTo } from "../../runtime/feeds/topic.js";
import type { Runtime } from "../../runtime/runtime.js";

/** Answers a `kept` frame: returns the commits that no stored run needs any more. */
export function toReleased(
  reading: Runtime["reading"],
  workspaceId: string,
  kept: readonly RepositoryCommit[],
): ServiceFrame {
  return { frame: "released", commits: kept.filter((commit) => !isCommitNeeded(reading, workspaceId, commit)) };
}

/** Returns a frame with the commits that runners should look for now; null if there are none. */
export function toWanted(reading: Runtime["reading"], workspaceId: string): ServiceFrame | null {
  const commits = listWanted(reading, workspaceId).map((wanted) => ({ ...wanted, mayFetch: false }));
  return commits.length === 0 ? null : { frame: "wanted", commits };
}

/** Calls `tell` for each commit that is requested from now on. Returns a function that stops it. */
export function listenForWanted(
  feed: Runtime["feed"],
  { workspaceId, runnerId }: RunnerKey,
  tell: (wanted: ServiceFrame) => void,
): () => void {
  return listenTo(feed, workspaceId, wantedTopic(workspaceId), ({ runnerId: named, ...wanted }) =>
    tell({ frame: "wanted", commits: [{ ...wanted, mayFetch: named === runnerId }] }),
  );
}
