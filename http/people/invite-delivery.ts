import type { InviteSent } from "../../actors/access/invite.messages.js";
import { invites } from "../../actors/access/invite.table.js";
import type { Runtime } from "../../runtime/runtime.js";

/** How long an answer waits for the mails of its invites, in milliseconds: a mail server that is slower has not sent them yet. */
const MAIL_WAIT_MS = 10_000;

/**
 * Waits until the invite's mail went out or could not be sent; true when it went out. False too when that is not known
 * in time, or when someone else has sent the invite again or revoked it meanwhile: the mail may still go out then, and
 * the list of pending invites tells.
 */
export function mailWentOut(runtime: Runtime, workspaceId: string, sent: InviteSent): Promise<boolean> {
  const { inviteId, mailId } = sent;
  return new Promise((resolve) => {
    const end = (wentOut: boolean): void => {
      unlisten();
      cancel();
      resolve(wentOut);
    };
    const look = (): void => {
      const invite = invites.get(runtime.reading, workspaceId, inviteId);
      if (invite?.mailId !== mailId || invite.state === "revoked") end(false);
      else if (invite.mail !== "sending" || invite.state === "accepted") end(invite.mail !== "not-sent");
    };
    const cancel = runtime.clock.at(runtime.clock.now() + MAIL_WAIT_MS, () => end(false));
    const unlisten = runtime.feed.listen(workspaceId, `invite/${inviteId}`, look);
    look();
  });
}
