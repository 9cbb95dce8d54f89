import { timeText } from "../time-text.js";
import { defineView } from "../view.js";
import { type CodeHostConnection, codeHostConnectionSchema } from "./connection.js";
import { listLackingPermissions } from "./lacking-permissions.js";

/** Returns the view of a connection. */
export const codeHostConnectionView = defineView<CodeHostConnection>()(codeHostConnectionSchema, {
  account: ({ account: { login, kind } }) => ({ login, kind }),
  connectedAt: ({ connectedAtMs }) => timeText(connectedAtMs),
  warnings: (connection) => {
    const warnings = listLackingPermissions(connection);
    return warnings.length > 0 ? warnings : undefined;
  },
});
