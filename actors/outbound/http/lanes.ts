import type { LaneLimits } from "../../../runtime/effects/lane.js";

/**
 * The lanes of outgoing requests. A lane limits how many requests of one kind run at once: in total, per client (usually
 * the workspace), and per target (usually the host) of one client. So hanging requests of one client cannot block the
 * requests of another.
 */

/** Hooks with `after` timing. */
export const afterEventLane: LaneLimits = {
  name: "hooks-after",
  places: 2_048,
  kept: 1_024,
  perClient: 256,
  perTarget: 64,
};

/**
 * Hooks with `before` timing. Work waits for these hooks. They have a separate lane, so that hooks with `after` timing
 * cannot take their places.
 */
export const beforeEventLane: LaneLimits = {
  name: "hooks-before",
  places: 1_024,
  kept: 512,
  perClient: 128,
  perTarget: 64,
};

/** Mail. For sign-in mail, the client is the recipient's domain. */
export const mailLane: LaneLimits = { name: "mail", places: 128, kept: 96, perClient: 4, perTarget: 4 };

/** OAuth requests of connections to the hosts where people link accounts. */
export const accountLane: LaneLimits = { name: "accounts", places: 256, kept: 128, perClient: 32, perTarget: 16 };

/**
 * Requests to the code host. Two separate lanes have these limits, so that neither takes the other's places:
 * - In one lane, effects wait, with limits per workspace.
 * - The other lane is for the listing of repositories, which a caller waits for, with limits per installation. The
 *   listing fails at once if no place is free.
 */
export const codeHostLane: LaneLimits = { name: "code-host", places: 128, kept: 96, perClient: 4, perTarget: 4 };

/** Writes at the code host. The target is the installation, which has one write at a time. */
export const codeHostWriteLane: LaneLimits = {
  name: "code-host-writes",
  places: 128,
  kept: 96,
  perClient: 4,
  perTarget: 1,
};

/**
 * Config edits in repositories. Sources are untrusted, and each edit may compute for 10 seconds in its own thread. The
 * low limit leaves processors free for the service.
 */
export const configEditLane: LaneLimits = { name: "config-edits", places: 3, kept: 2, perClient: 1, perTarget: 1 };

/** Fetches of issuer keys. An incoming request waits for each fetch. */
export const issuerLane: LaneLimits = { name: "issuers", places: 128, kept: 64, perClient: 16, perTarget: 4 };

/** Requests to the model. An answer can take minutes. */
export const modelLane: LaneLimits = { name: "model", places: 128, kept: 96, perClient: 4, perTarget: 4 };

/** Integration requests that a caller waits for: tool calls. */
export const integrationCallLane: LaneLimits = {
  name: "integration-calls",
  places: 512,
  kept: 256,
  perClient: 64,
  perTarget: 16,
};

/** Integration requests that no caller waits for, except polls and attachments. */
export const integrationWorkLane: LaneLimits = {
  name: "integration-work",
  places: 512,
  kept: 256,
  perClient: 64,
  perTarget: 16,
};

/** Polls. An answer can have 2 MiB. */
export const pollLane: LaneLimits = { name: "polls", places: 128, kept: 96, perClient: 8, perTarget: 4 };

/** Attachments, of up to 10 MiB each. */
export const attachmentLane: LaneLimits = { name: "attachments", places: 72, kept: 64, perClient: 2, perTarget: 2 };
