import type { DirectoryEntry } from "../../../runtime/directories/directory.js";
import { rowSource } from "../../../runtime/directories/directory-source.js";
import { toChangeEntry } from "../../../runtime/feeds/topic.js";
import { hashEntry } from "../../resources/resource-hash.table.js";
import { indexedTable } from "../../tables/indexed-table.js";
import { retain } from "../../tables/retention.js";
import { type InviteRow, inviteTopic, leads } from "./invite.js";
import { inviteRef } from "./invite.messages.js";

/** The kind of invite links in the hash directory. */
export const INVITE_LINK = "invite";

/** Key: `[invite]`. Ids increase with time. The table has only the latest invite of each address. */
export const invites = indexedTable<InviteRow>("invite", {
  order: ["inviteId"],
  indexes: { "open-invite": { by: [], only: { state: ["open"] } } },
  changes: ({ inviteId, state, mail }) => [toChangeEntry(inviteTopic(inviteId), { state, mail })],
});

/** Returns the directory entry of an invite's link. */
export function inviteEntry(workspaceId: string, { linkHash, inviteId }: InviteRow): DirectoryEntry {
  return hashEntry(INVITE_LINK, linkHash, { workspaceId, id: inviteId });
}

/** Derives the directory entries of invite links from the invites, to rebuild the directory. */
export const inviteSource = rowSource(invites, (invite, { partition }) =>
  leads(invite, invite.linkHash) ? [inviteEntry(partition, invite)] : [],
);

/** Removes ended invites. The retention period of an ended invite starts at its expiry. */
export const inviteRetention = retain(invites, {
  period: "work",
  cost: 4,
  startedAtMs: ({ createdAtMs }) => createdAtMs,
  endedAtMs: ({ state, expiresAtMs }) => (state === "open" ? null : expiresAtMs),
  remove: (turn, { email }) => {
    turn.send(inviteRef(turn.self.partition, email), { type: "invite.forget" });
    return true;
  },
});
