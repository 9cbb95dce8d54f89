import {
  attemptTopic,
  type ConfirmInstallation,
  type ConnectOutcome,
  codeHostConnectionRef,
} from "../../actors/code-host/connection.messages.js";
import { notAnswered } from "../../actors/code-host/refusals.js";
import type { SignInReturn } from "../../actors/code-host/sign-in.js";
import { isRefusal } from "../../actors/refusal.js";
import type { Runtime } from "../../runtime/runtime.js";
import { listenForOutcome } from "../wire/outcome-wait.js";

/**
 * Maximum time that a response waits for the code host, in milliseconds. Longer than the limit of its four requests.
 */
const WAIT_MS = 50_000;

/** Starts the confirmation of an installation and waits for its outcome. */
export async function connectOutcome(
  runtime: Runtime,
  { workspaceId, installation, signedIn }: SignInReturn,
): Promise<ConnectOutcome> {
  const attemptId = runtime.newId("attempt");
  const topic = { workspaceId, topic: attemptTopic(attemptId), toOutcome: (outcome: ConnectOutcome) => outcome };
  const wait = listenForOutcome(runtime, topic, { maxMs: WAIT_MS, late: notAnswered(installation.host) });
  try {
    const message: ConfirmInstallation = { type: "installation.confirm", attemptId, ...signedIn };
    const refused = await runtime.ask(codeHostConnectionRef(workspaceId, installation), message);
    return isRefusal(refused) ? refused : await wait.outcome;
  } finally {
    wait.end();
  }
}
