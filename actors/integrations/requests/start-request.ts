import type { Turn } from "../../../runtime/turns/turn.js";
import { findRequest } from "./find-request.js";
import { INTEGRATION_REQUEST } from "./integration-request.effects.js";
import type { IntegrationRequestInput } from "./integration-request.js";

/**
 * Starts a request in a turn. Adds the request's HTTP method from the integration's current definition; null if the
 * definition no longer has the request.
 */
export function startIntegrationRequest(turn: Turn, id: string, input: Omit<IntegrationRequestInput, "method">): void {
  const method = findRequest(turn, turn.self.partition, input)?.request.method ?? null;
  turn.start(INTEGRATION_REQUEST.request(id, { ...input, method }));
}
