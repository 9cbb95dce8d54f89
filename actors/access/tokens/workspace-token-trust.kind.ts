import { z } from "zod";
import type { Caller } from "../../caller.js";
import type { AllowList } from "../../outbound/http/allow-list.js";
import type { Refusal } from "../../refusal.js";
import { slug } from "../../resources/fields.js";
import type { Kind, WriteScope } from "../../resources/kind.js";
import { termWarnings, trustTerms } from "../trusts/trust-terms.js";
import { holdsScopes } from "../visibility/permissions.js";
import { forbid } from "../visibility/visibility.js";
import { departedMemberWarning } from "./departed-member-warning.js";
import { checkScopes, tokenScopes } from "./workspace-token.kind.js";

const lifetime = "must be 1 to 60 minutes";

const schema = z.strictObject({
  key: slug.describe("Names the trust within its workspace; lowercase words joined by dashes. Fixed after the create."),
  ...trustTerms,
  scopes: tokenScopes,
  lifetimeMinutes: z
    .int("must be a whole number")
    .min(1, lifetime)
    .max(60, lifetime)
    .default(15)
    .describe("How long a minted token is valid, in minutes; 1 to 60."),
});

export type TokenTrustFields = z.output<typeof schema>;

const KIND = "workspace-token-trust";
const PERMISSION = "manage-token-trusts";

/**
 * Defines which workloads may exchange their platform's OIDC token for a workspace token, and with which scopes.
 *
 * A minted token becomes invalid when it expires, when a term of the trust changes, or when the trust is deleted
 * (configuration API, States). The token stays valid if the user who defined the trust changes role or leaves, because
 * the trust belongs to the workspace and jobs rely on it.
 */
export function tokenTrustKind({ allowList }: { readonly allowList: AllowList }): Kind<TokenTrustFields> {
  return {
    name: KIND,
    plural: "token-trusts",
    idPrefix: "trust",
    listedAfter: ["workspace-token"],
    heldBy: "workspace",
    permission: PERMISSION,
    schema,
    fixed: ["key"],
    hcl: {},
    hidden: [],
    address: (fields) => fields.key,
    references: () => [],
    refuses: ({ caller, fields, previous }) =>
      passesOn(caller, [...(fields?.scopes ?? []), ...(previous?.fields.scopes ?? [])]),
    validate: (fields) => checkScopes(fields.scopes),
    warnings: (fields, reading, row) => [
      ...termWarnings(fields, allowList),
      ...departedMemberWarning(reading, row, "definedBy"),
    ],
    added: {
      definedBy: z
        .string()
        .describe(
          "The person that tokens of this trust act for, even after that person leaves the workspace. " +
            "`warnings` report when the person has left.",
        ),
    },
    complete: (fields, scope) => ({ fields, added: { definedBy: toDefiner(scope) } }),
    details: ({ fields: { key: _key, ...terms } }) => terms,
  };
}

/**
 * Refuses a token that tries to grant a scope that it does not have itself (configuration API, Trust-defined tokens).
 * Null for any other caller.
 */
function passesOn(caller: Caller, scopes: TokenTrustFields["scopes"]): Refusal | null {
  return caller.kind === "person" || holdsScopes(caller.scopes, scopes) ? null : forbid(PERMISSION, KIND);
}

/**
 * Returns the user that minted tokens act for: the user who created the trust. If a token created the trust, returns
 * the user of that token. Later changes of the trust do not change this user.
 */
function toDefiner({ previous, caller }: WriteScope<TokenTrustFields>): unknown {
  return previous?.added.definedBy ?? (caller.kind === "person" ? caller.userId : caller.issuedBy);
}
