import { reference } from "../../runtime/cells/reference.js";
import { type Topic, topic } from "../../runtime/feeds/topic.js";
import type { Answered, Message } from "../../runtime/turns/turn.js";
import type { PersonCaller } from "../caller.js";
import type { Refusal } from "../refusal.js";
import type { ConnectionHolder } from "./connection.js";
import type { IntegrationConnectionKey } from "./connection-permissions.js";

/** Messages to a connection. */

/**
 * Links the account of a user who returned from the host with a code. If the actor accepts the message, the
 * connection's topic later publishes the result as a {@link LinkEnded}.
 */
export interface LinkConnection extends Answered<Refusal | undefined> {
  readonly type: "connection.link";
  readonly caller: PersonCaller;
  readonly exchangeId: string;
  readonly sealedGrant: string;
}

export interface Disconnect extends Answered<Refusal | undefined> {
  readonly type: "connection.disconnect";
  readonly caller: PersonCaller;
}

/** Sets the tools whose calls with the user's own connection need the user's approval. */
export interface SetAsks extends Answered<Refusal | undefined> {
  readonly type: "connection.ask";
  readonly caller: PersonCaller;
  readonly tools: readonly string[];
}

/** The integration, the members of its team, or the workspace changed. The connection may no longer be permitted. */
export interface CheckConnection extends Message {
  readonly type: "connection.check";
}

export type IntegrationConnectionMessage = LinkConnection | Disconnect | SetAsks | CheckConnection;

/** A holder's connection to an integration. */
export const integrationConnectionRef = reference<IntegrationConnectionMessage, [of: IntegrationConnectionKey]>(
  "connection",
  ({ workspaceId, integrationId, holder }) => [workspaceId, `${integrationId}:${holder}`],
);

/** Splits a connection actor's id into its parts. */
export function parseActorId(id: string): { readonly integrationId: string; readonly holder: ConnectionHolder } {
  const colon = id.indexOf(":");
  return { integrationId: id.slice(0, colon), holder: id.slice(colon + 1) };
}

/** The result of an exchange, published on {@link integrationConnectionTopic}. */
export interface LinkEnded {
  readonly exchangeId: string;
  /** Why the exchange failed; null if it succeeded. */
  readonly failed: string | null;
}

/** The feed topic on which a connection publishes exchange results. Streams do not offer this topic. */
export function integrationConnectionTopic({
  integrationId,
  holder,
}: Omit<IntegrationConnectionKey, "workspaceId">): Topic<LinkEnded> {
  return linkTopic(`${integrationId}:${holder}`);
}

const linkTopic = topic<LinkEnded>("connection");
