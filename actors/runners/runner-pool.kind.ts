import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { type AllowList, findRefusalReason } from "../outbound/http/allow-list.js";
import type { FieldError } from "../refusal.js";
import { labels, slug } from "../resources/fields.js";
import type { Kind, UniqueHash, Warning } from "../resources/kind.js";
import { unboundWarnings } from "../workspaces/secret-hosts.js";
import { findPoolByToken } from "./pool-token.js";

const schema = z.strictObject({
  key: slug,
  kind: z.enum(["pull", "push"], "must be pull or push").default("pull"),
  /** Labels that all runners of the pool have in addition to their own. */
  labels,
  concurrency: z
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(10_000, "must be at most 10000")
    .nullable()
    .default(null),
  token: z
    .string()
    .regex(/^[A-Za-z0-9_-]{32,128}$/, "must be 32 to 128 characters of base64url")
    .optional(),
  push: z
    .strictObject({
      url: z.string().min(1, "must not be empty").max(2_000, "must be at most 2000 characters"),
      /** Name of the secret that signs the notifications. */
      secret: slug,
    })
    .nullable()
    .default(null),
});

export type RunnerPoolFields = z.output<typeof schema>;

const TOKEN = "token";

/**
 * A pool of runners. Runners connect to a pull pool with its token, which is stored as a hash and returned once, when
 * it is issued. A push pool sends notifications of work to a URL.
 */
export function runnerPoolKind({ allowList }: { readonly allowList: AllowList }): Kind<RunnerPoolFields> {
  return {
    name: "runner-pool",
    plural: "runner-pools",
    idPrefix: "pool",
    heldBy: "workspace",
    permission: "manage-runners",
    schema,
    fixed: ["key", "kind"],
    hcl: {},
    // A token identifies one pool, so it must be unique over all workspaces. Otherwise the operator of a host could
    // open a workspace and give one of its pools the same token.
    hidden: [{ path: TOKEN, keep: "hash", unique: { taken: "is already used by another pool", isTaken } }],
    reveals: { path: TOKEN, header: "service-pool-token", when: (fields) => fields.kind === "pull" },
    address: (fields) => fields.key,
    references: ({ push }) => (push === null ? [] : [{ path: "push.secret", kind: "secret", address: push.secret }]),
    validate: (fields, { hidden }) => validateKind(fields, { isTokenGiven: hidden[TOKEN] !== undefined, allowList }),
    warnings: ({ push }, reading, { workspaceId }) => (push === null ? [] : pushWarnings(push, reading, workspaceId)),
  };
}

function validateKind(
  { kind, push }: RunnerPoolFields,
  { isTokenGiven, allowList }: { readonly isTokenGiven: boolean; readonly allowList: AllowList },
): readonly FieldError[] {
  if (kind === "pull") return push === null ? [] : [{ path: "push", message: "is allowed only with the kind push" }];
  const errors: FieldError[] = isTokenGiven ? [{ path: TOKEN, message: "is allowed only with the kind pull" }] : [];
  if (push === null) return [...errors, { path: "push", message: "is required with the kind push" }];
  const reason = findRefusalReason(push.url, allowList);
  return reason === null ? errors : [...errors, { path: "push.url", message: reason }];
}

const isTaken: UniqueHash["isTaken"] = (reading, hash, { id, nowMs }) => {
  const bearer = findPoolByToken(reading, hash, nowMs);
  return bearer !== null && bearer.poolId !== id;
};

function pushWarnings(
  push: NonNullable<RunnerPoolFields["push"]>,
  reading: Reading,
  workspaceId: string,
): readonly Warning[] {
  const hosts = [new URL(push.url).host];
  return [
    { path: "push", message: "pushing work is not implemented yet: runs for this pool wait", severity: "warning" },
    ...unboundWarnings(reading, workspaceId, { path: "push.secret", secret: push.secret, hosts }),
  ];
}
