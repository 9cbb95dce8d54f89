import { z } from "zod";
import { termWarnings, trustTerms } from "../access/trusts/trust-terms.js";
import type { AllowList } from "../outbound/http/allow-list.js";
import type { FieldError } from "../refusal.js";
import { distinct, slug } from "../resources/fields.js";
import type { Kind, WriteScope } from "../resources/kind.js";
import { findResourceAt } from "../resources/resource.table.js";
import type { RunnerPoolFields } from "./runner-pool.kind.js";

/** Maximum number of pools of one trust. A host gets a token for each pool. */
const MAX_POOLS = 20;

const schema = z.strictObject({
  key: slug.describe("Names the trust within its workspace; lowercase words joined by dashes. Fixed after the create."),
  ...trustTerms,
  pools: distinct(slug, "must name each pool once")
    .min(1, "must name at least one pool")
    .max(MAX_POOLS, `must name at most ${MAX_POOLS} pools`)
    .describe("Keys of the pull pools that a host may join, 1 to 20."),
});

export type RunnerTrustFields = z.output<typeof schema>;

/** A rule that lets hosts join pools with the OIDC token of their platform, instead of a stored pool token. */
export function runnerTrustKind({ allowList }: { readonly allowList: AllowList }): Kind<RunnerTrustFields> {
  return {
    name: "runner-trust",
    plural: "runner-trusts",
    idPrefix: "rtrust",
    heldBy: "workspace",
    permission: "manage-runners",
    schema,
    fixed: ["key"],
    hcl: {},
    hidden: [],
    address: (fields) => fields.key,
    references: ({ pools }) =>
      pools.map((address, index) => ({ path: `pools[${index}]`, kind: "runner-pool", address })),
    validate: validatePools,
    warnings: (fields) => termWarnings(fields, allowList),
    details: ({ fields: { key: _key, ...terms } }) => terms,
  };
}

/** Checks that all pools are pull pools. Runners cannot connect to a push pool, which sends notifications instead. */
function validatePools({ pools }: RunnerTrustFields, scope: WriteScope<RunnerTrustFields>): readonly FieldError[] {
  return pools.flatMap((key, index) => {
    const pool = findResourceAt<RunnerPoolFields>(scope.reading, scope.workspaceId, "runner-pool", key);
    return pool?.fields.kind === "push" ? [{ path: `pools[${index}]`, message: "must be a pull pool" }] : [];
  });
}
