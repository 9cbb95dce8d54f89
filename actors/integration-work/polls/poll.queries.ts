import type { Reading } from "../../../storage/store.js";
import type { Caller } from "../../caller.js";
import type { VisibleIntegration } from "../../integrations/connection.queries.js";
import type { PollRow } from "../../integrations/poll.js";
import { polls } from "../../integrations/poll.table.js";
import { isRefusal, type Refusal } from "../../refusal.js";
import { findIntegrationFor, findIntegrationOfOutcomes } from "../deliveries/delivery.queries.js";

/** The poll of an integration that a caller can see. */
export interface VisiblePoll {
  readonly workspaceId: string;
  readonly poll: PollRow;
}

/**
 * Finds the poll for a caller who can read the outcomes of the integration's team. Returns `not-found` to other
 * callers, and if the integration never had a poll.
 */
export function findPoll(reading: Reading, caller: Caller, integrationId: string): VisiblePoll | Refusal {
  return toPoll(reading, findIntegrationOfOutcomes(reading, caller, integrationId));
}

/**
 * Finds the poll for a caller who can configure the integration and read the outcomes of its team. Other callers get a
 * refusal.
 */
export function findPollToChange(reading: Reading, caller: Caller, integrationId: string): VisiblePoll | Refusal {
  return toPoll(reading, findIntegrationFor(reading, caller, integrationId, "configure"));
}

function toPoll(reading: Reading, integration: VisibleIntegration | Refusal): VisiblePoll | Refusal {
  if (isRefusal(integration)) return integration;
  const { workspaceId, id } = integration;
  const poll = polls.get(reading, workspaceId, id);
  return poll === undefined ? { refused: "not-found", detail: "The integration has no poll." } : { workspaceId, poll };
}
