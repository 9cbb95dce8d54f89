import { z } from "zod";
import type { Stored } from "../view.js";
import type { OAuth2 } from "./oauth2.js";

/**
 * A connection as the API returns it to administrators. Users see their own connection in this form too. Nobody can see
 * the connection's tokens.
 */
export const integrationConnectionSchema = z
  .strictObject({
    holder: z
      .enum(["team", "person"])
      .describe("Whose account is connected: the team's, or that of the person in `userId`."),
    userId: z.string().nullable().describe("The person who owns the connection; null for the team's connection."),
    email: z
      .string()
      .nullable()
      .describe("The mail address of the person in `userId`; null for the team's connection."),
    state: z
      .enum(["none", "linking", "connected", "refreshing", "broken"])
      .describe(
        "`none`: not connected. `linking`: the service exchanges the host's code. `refreshing`: the service renews the " +
          "tokens. `broken`: connect again; see `problem`.",
      ),
    account: z.string().nullable().describe("The host's name for the account; null if unknown."),
    scopes: z.array(z.string()).describe("The OAuth scopes that the host granted."),
    connectedBy: z.string().nullable().describe("The person who connected the account; null if not connected."),
    connectedAt: z.string().nullable().describe("When the account was connected; null if it is not connected."),
    renewedAt: z.string().nullable().describe("When the service last renewed the tokens; null if it never did."),
    expiresAt: z
      .string()
      .nullable()
      .describe("When the access token expires, unless the service renews it; null if the host does not say."),
    problem: z.string().nullable().describe("Why the connection does not work, in one sentence; null if it works."),
  })
  .meta({ title: "connection" });

/** The owner of a connection: the team, or a user by id. */
export type ConnectionHolder = "team" | (string & {});

/** The part of the definition to which tokens are bound. Tokens are never used with another host or client. */
export interface LinkedTerms
  extends Pick<OAuth2, "issuer" | "tokenUrl" | "revokeUrl" | "clientId" | "clientSecret" | "clientAuth"> {
  /** The integration's hosts. */
  readonly hosts: readonly string[];
}

/** A linked account, with its tokens. */
export interface LinkedAccount {
  /** The tokens as JSON (`{ access, refresh }`), sealed. */
  readonly sealed: string;
  readonly canRenew: boolean;
  /** When the access token expires, in milliseconds since 1970; null if the host does not say. */
  readonly expiresAtMs: number | null;
  readonly scopes: readonly string[];
  readonly terms: LinkedTerms;
  /** The host's name for the account; null if the definition or the response gives none. */
  readonly account: string | null;
}

type StoredConnection = Stored<
  typeof integrationConnectionSchema,
  "holder" | "userId" | "email" | "scopes" | "expiresAt"
>;

/** A stored connection, or the settings of a user without a connection. */
export interface IntegrationConnectionRow extends StoredConnection {
  readonly integrationId: string;
  readonly holder: ConnectionHolder;
  /** The linked account; null if the connection has no tokens. */
  readonly linked: LinkedAccount | null;
  /** Tools whose calls need the user's approval. */
  readonly asks: readonly string[];
}
