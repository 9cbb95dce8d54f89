import type { LaneLimits } from "../../runtime/lane.js";

/**
 * The lanes of what leaves the service: how many requests of each kind are under way at once, and how many of them one
 * workspace may have. Whatever hangs costs its workspace places at its own host, and nobody else any.
 */

/** Hooks on after events. */
export const afterEventLane: LaneLimits = {
  ...{ name: "hooks-after", places: 2_048, kept: 1_024, perParty: 256, perTarget: 64 },
};

/** Hooks on before events: work waits for them, so hooks on after events take none of their places. */
export const beforeEventLane: LaneLimits = {
  ...{ name: "hooks-before", places: 1_024, kept: 512, perParty: 128, perTarget: 64 },
};

/** Mails; those of a sign-in are for the domain that they go to. */
export const mailLane: LaneLimits = { name: "mail", places: 128, kept: 96, perParty: 4, perTarget: 4 };

/** What connections ask of the hosts that they link accounts at. */
export const accountLane: LaneLimits = { name: "accounts", places: 256, kept: 128, perParty: 32, perTarget: 16 };

/**
 * What is asked of the code host. Two lanes have these limits: effects wait in one for their workspace; requests that
 * somebody waits for, by installation, are refused at once in the other, so that neither takes the other's places.
 */
export const codeHostLane: LaneLimits = { name: "code-host", places: 128, kept: 96, perParty: 4, perTarget: 4 };

/** What is written at the code host: one thing at a time for each installation, which is the target. */
export const codeHostWriteLane: LaneLimits = {
  ...{ name: "code-host-writes", places: 128, kept: 96, perParty: 4, perTarget: 1 },
};

/**
 * Edits of configs in repositories. A source is anybody's, and its parsers may compute for 10 seconds, each edit in a thread
 * of its own: so few at once leave processors to the service.
 */
export const configEditLane: LaneLimits = { name: "config-edits", places: 3, kept: 2, perParty: 1, perTarget: 1 };

/** Keys of issuers, fetched while a request waits for them. */
export const issuerLane: LaneLimits = { name: "issuers", places: 128, kept: 64, perParty: 16, perTarget: 4 };

/** Questions to the model; an answer takes minutes. */
export const modelLane: LaneLimits = { name: "model", places: 128, kept: 96, perParty: 4, perTarget: 4 };

/** Requests of integrations that somebody waits for: calls of tools. */
export const integrationCallLane: LaneLimits = {
  ...{ name: "integration-calls", places: 512, kept: 256, perParty: 64, perTarget: 16 },
};

/** Other requests of integrations: what bindings and schedules do, and what events look up. */
export const integrationWorkLane: LaneLimits = {
  ...{ name: "integration-work", places: 512, kept: 256, perParty: 64, perTarget: 16 },
};

/** Polls; an answer may be of some MiB. */
export const pollLane: LaneLimits = { name: "polls", places: 128, kept: 96, perParty: 8, perTarget: 4 };

/** Attachments, of up to 10 MiB each. */
export const attachmentLane: LaneLimits = { name: "attachments", places: 72, kept: 64, perParty: 2, perTarget: 2 };
