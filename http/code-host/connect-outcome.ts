import {
  attemptTopic,
  type ConfirmInstallation,
  type ConnectOutcome,
  codeHostConnectionRef,
} from "../../actors/code-host/connection.messages.js";
import type { InstallationKey } from "../../actors/code-host/connection.table.js";
import { isRefusal } from "../../actors/refusal.js";
import type { Runtime } from "../../runtime/runtime.js";

/** How long an answer waits for the code host, in milliseconds: as long as the four requests there may take, and more. */
const WAIT_MS = 50_000;

/** Asks for a confirmation and waits for what comes of it. */
export async function connectOutcome(
  runtime: Runtime,
  workspaceId: string,
  installation: InstallationKey,
  signedIn: Pick<ConfirmInstallation, "by" | "sealedSignIn">,
): Promise<ConnectOutcome> {
  const message: ConfirmInstallation = {
    type: "installation.confirm",
    attemptId: runtime.newId("attempt"),
    ...signedIn,
  };
  const wait = outcomeOf(runtime, workspaceId, installation.host, message.attemptId);
  try {
    const asked = await runtime.ask(codeHostConnectionRef(workspaceId, installation), message);
    return isRefusal(asked) ? asked : await wait.outcome;
  } finally {
    wait.end();
  }
}

interface Waiting {
  readonly outcome: Promise<ConnectOutcome>;
  end(): void;
}

/** Listens from now on, so that nothing is missed that is asked for next. */
function outcomeOf(runtime: Runtime, workspaceId: string, host: string, attemptId: string): Waiting {
  const ends: (() => void)[] = [];
  const outcome = new Promise<ConnectOutcome>((resolve) => {
    const late: ConnectOutcome = { refused: "refused-upstream", detail: `${host} took too long to answer.` };
    ends.push(
      runtime.feed.listen(workspaceId, attemptTopic(attemptId), ({ data }) => resolve(data as ConnectOutcome)),
      runtime.clock.at(runtime.clock.now() + WAIT_MS, () => resolve(late)),
    );
  });
  return {
    outcome,
    end: () => {
      for (const end of ends) end();
    },
  };
}
