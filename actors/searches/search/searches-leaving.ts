import type { Subscriber } from "../../../runtime/cells/actor-type.js";
import type { ResourceChanged } from "../../resources/resource.messages.js";
import type { WorkspaceClosed } from "../../workspaces/workspace.machine.js";
import { isSearchUnderWay } from "./search.js";
import { type StationLeft, type StopSearch, searchRef } from "./search.messages.js";
import { listUnderWayOfLine, searches } from "./search.table.js";

/**
 * When a workspace closes, stops its searches. When a line changes, notifies the line's searches, because their
 * stations may have left the line.
 */
export const searchesLeavingSubscriber: Subscriber<ResourceChanged<"line"> | WorkspaceClosed> = {
  name: "searches end when their station leaves or their workspace closes",
  facts: ["line.changed", "workspace.closed"],
  handle: (fact, turn) => {
    const { partition } = turn.self;
    if (fact.name === "workspace.closed") {
      const stop: StopSearch = { type: "search.stop", caller: null, client: null };
      for (const search of searches.rows(turn, partition)) {
        if (isSearchUnderWay(search)) turn.send(searchRef(partition, search.id), stop);
      }
      return;
    }
    const left: StationLeft = { type: "station.left" };
    for (const { id } of listUnderWayOfLine(turn, partition, fact.id)) turn.send(searchRef(partition, id), left);
  },
};
