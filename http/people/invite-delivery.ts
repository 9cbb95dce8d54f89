import { inviteTopic } from "../../actors/access/invites/invite.js";
import { didMailGoOut } from "../../actors/access/invites/invite.queries.js";
import type { Runtime } from "../../runtime/runtime.js";
import { listenForOutcome } from "../wire/outcome-wait.js";

/** Maximum time that a response waits for an invite's mail, in milliseconds. After that the mail counts as not sent. */
const MAIL_WAIT_MS = 10_000;

/** Waits until the invite's mail is sent (true) or has failed (false). Also false if neither is known in time. */
export async function mailWentOut(runtime: Runtime, workspaceId: string, inviteId: string): Promise<boolean> {
  const look = () => didMailGoOut(runtime.reading, workspaceId, inviteId);
  const topic = { workspaceId, topic: inviteTopic(inviteId), toOutcome: look };
  const wait = listenForOutcome(runtime, topic, { maxMs: MAIL_WAIT_MS, late: false });
  try {
    return look() ?? (await wait.outcome);
  } finally {
    wait.end();
  }
}
