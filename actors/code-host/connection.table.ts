import { toChangeEntry, topic } from "../../runtime/feeds/topic.js";
import { indexedTable } from "../tables/indexed-table.js";
import type { CodeHostConnection } from "./connection.js";
import { codeHostConnectionView } from "./connection.view.js";

/** A change of a code host connection, as published to the workspace's subscribers. */
export const workspaceTopic = topic<{
  readonly type: "code-host";
  /** The new state of the connection; `disconnected` if it was removed. */
  readonly what: CodeHostConnection["state"] | "disconnected";
  readonly connection: ReturnType<typeof codeHostConnectionView>;
}>("workspace");

/** Key: `[host, installation]`. */
export const codeHostConnections = indexedTable<CodeHostConnection>("code-host-connection", {
  order: ["host", "installationId"],
  changes: (connection, _reading, { workspaceId }) => [
    toChangeEntry(workspaceTopic(workspaceId), {
      type: "code-host",
      what: connection.state,
      connection: codeHostConnectionView(connection),
    }),
  ],
});
