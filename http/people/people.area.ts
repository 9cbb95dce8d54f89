import type { RouteEntry } from "../access/edge-parts.js";
import { inviteRoutes } from "./invite.routes.js";
import { inviteLinkRoutes } from "./invite-link.routes.js";
import { memberRoutes } from "./member.routes.js";

/** Members, roles and invites. */
export const peopleArea: readonly RouteEntry[] = [
  { tag: "Members", make: ({ runtime }) => memberRoutes({ runtime }) },
  { tag: "Invites", make: ({ runtime, sealer, site }) => inviteRoutes({ runtime, sealer, ...site }) },
  { tag: "Invites", make: ({ runtime }) => inviteLinkRoutes({ runtime }) },
];
