import { z } from "zod";
import type { Stored } from "../view.js";
import type { OAuth2 } from "./oauth2.js";

/**
 * A connection as the API returns it to administrators, and to a user for their own connection. Nobody can see its
 * tokens.
 */
export const integrationConnectionSchema = z
  .strictObject({
    holder: z.enum(["team", "person"]),
    /** The user who owns the connection; null for the team's connection. `email` is the user's mail address. */
    userId: z.string().nullable(),
    email: z.string().nullable(),
    /** `none` only if a user has settings but no connection. */
    state: z.enum(["none", "linking", "connected", "refreshing", "broken"]),
    /** The host's name for the account; null if unknown. */
    account: z.string().nullable(),
    scopes: z.array(z.string()),
    connectedBy: z.string().nullable(),
    connectedAt: z.string().nullable(),
    renewedAt: z.string().nullable(),
    expiresAt: z.string().nullable(),
    problem: z.string().nullable(),
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
  /** Null if the connection has no tokens. */
  readonly linked: LinkedAccount | null;
  /** Tools whose calls need the user's approval. */
  readonly asks: readonly string[];
}
