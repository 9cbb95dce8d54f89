import { z } from "zod";
import type { Scope } from "../../caller.js";
import type { FieldError } from "../../refusal.js";
import { slug } from "../../resources/fields.js";
import type { Kind, WriteScope } from "../../resources/kind.js";
import { departedMemberWarning } from "./departed-member-warning.js";

const NEEDS_A_BASE = "must include read, plan or configure; secrets, runners and trusts need one of them";

const SCOPES = ["read", "plan", "configure", "secrets", "runners", "trusts", "work"] as const;

/**
 * The scopes of a token, or of the tokens of a trust, in a request body. {@link checkScopes} checks the rules for the
 * whole list.
 */
export const tokenScopes = z
  .array(z.enum(SCOPES, `must be a scope: ${SCOPES.join(", ")}`))
  .min(1, NEEDS_A_BASE)
  .describe(
    "Each scope once. `secrets`, `runners` and `trusts` need `read`, `plan` or `configure`. `work`, which may be the " +
      "only scope, grants `read` and lets the token open tasks, add notes, and close the tasks that it opened.",
  );

const schema = z.strictObject({
  name: slug.describe(
    "Names the token within its workspace; lowercase words joined by dashes. Fixed after the create.",
  ),
  scopes: tokenScopes,
  description: z
    .string()
    .max(255, "must be at most 255 characters")
    .default("")
    .describe("Free text about the token's purpose; the only field that an update may change."),
  expiresAt: z.iso
    .datetime({ offset: true, error: "must be an RFC 3339 time" })
    .overwrite(inUtc)
    .refine(isBeforeYear10000, "must lie before the year 10000, also in UTC")
    .nullable()
    .default(null)
    .describe("RFC 3339 time in the future when the token expires; null for never. Fixed."),
});

export type WorkspaceTokenFields = z.output<typeof schema>;

/** The field under which the token's hash is stored. */
export const TOKEN_FIELD = "token";

/**
 * A bearer credential of one workspace. The service returns the token's value once, and stores only a hash. A token
 * ends when it expires or is revoked (configuration API, States). A token does not end when its issuer changes role or
 * leaves, because the token belongs to the workspace.
 */
export const workspaceTokenKind: Kind<WorkspaceTokenFields> = {
  name: "workspace-token",
  plural: "tokens",
  idPrefix: "tok",
  listedAfter: ["runner-trust"],
  heldBy: "workspace",
  permission: "administer",
  peopleOnly: true,
  schema,
  fixed: ["name", "scopes", "expiresAt"],
  hcl: null,
  hidden: [{ path: TOKEN_FIELD, keep: "hash" }],
  reveals: { path: TOKEN_FIELD, header: "service-workspace-token", when: () => true },
  address: (fields) => fields.name,
  references: () => [],
  validate: checkToken,
  warnings: (_fields, reading, row) => departedMemberWarning(reading, row, "issuedBy"),
  complete: (fields, scope) => ({
    fields,
    added: scope.previous?.added ?? {
      issuedBy: scope.caller.kind === "person" ? scope.caller.userId : scope.caller.issuedBy,
      issuedAt: new Date(scope.now).toISOString(),
    },
  }),
  added: {
    issuedBy: z.string().describe("The person who issued it; `warnings` say when they left the workspace."),
    issuedAt: z.iso.datetime().describe("RFC 3339 time at which the service issued the token."),
  },
};

/**
 * Normalises a time to the format of all responses. So a request with another notation of the stored time changes
 * nothing.
 */
function inUtc(text: string): string {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? text : new Date(ms).toISOString();
}

/**
 * Returns whether a normalised time is before the year 10000. Later years begin with a sign, which RFC 3339 forbids.
 */
function isBeforeYear10000(text: string): boolean {
  return !text.startsWith("+");
}

function checkToken(fields: WorkspaceTokenFields, scope: WriteScope<WorkspaceTokenFields>): readonly FieldError[] {
  const errors = checkScopes(fields.scopes);
  const isPast = fields.expiresAt !== null && Date.parse(fields.expiresAt) <= scope.now;
  if (scope.previous === null && isPast) errors.push({ path: "expiresAt", message: "must lie in the future" });
  return errors;
}

/**
 * Checks the rules for a list of scopes (configuration API, Workspace token). No scope may occur twice. A list with a
 * scope other than `work` must have at least one of `read`, `plan` and `configure`.
 */
export function checkScopes(given: readonly Scope[]): FieldError[] {
  const errors: FieldError[] = [];
  if (new Set(given).size !== given.length) errors.push({ path: "scopes", message: "must name each scope once" });
  const hasBase = given.some((scope) => scope === "read" || scope === "plan" || scope === "configure");
  if (!hasBase && !given.every((scope) => scope === "work")) {
    errors.push({ path: "scopes", message: NEEDS_A_BASE });
  }
  return errors;
}
