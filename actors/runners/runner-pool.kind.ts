import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { type AllowList, findRefusalReason } from "../outbound/http/allow-list.js";
import type { FieldError } from "../refusal.js";
import { labels, slug } from "../resources/fields.js";
import type { Kind, UniqueHash, Warning } from "../resources/kind.js";
import { unboundWarnings } from "../workspaces/secret-hosts.js";
import { findPoolByToken } from "./pool-token.js";

const schema = z.strictObject({
  key: slug.describe("Names the pool within its workspace; lowercase words joined by dashes. Fixed after the create."),
  kind: z
    .enum(["pull", "push"], "must be pull or push")
    .default("pull")
    .describe("`pull`: runners connect to the service. `push`: the service notifies a URL. Fixed after the create."),
  labels: labels.describe("Labels that all runners of the pool have besides their own; at most 50."),
  concurrency: z
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(10_000, "must be at most 10000")
    .nullable()
    .default(null)
    .describe("Most runs that the pool executes at the same time; null for no limit."),
  token: z
    .string()
    .regex(/^[A-Za-z0-9_-]{32,128}$/, "must be 32 to 128 characters of base64url")
    .optional()
    .describe("Token for runners of a pull pool, 32 to 128 characters; issued if omitted."),
  push: z
    .strictObject({
      url: z
        .string()
        .min(1, "must not be empty")
        .max(2_000, "must be at most 2000 characters")
        .describe("URL that the service notifies about waiting work; `OUTBOUND_ALLOW` must include it."),
      secret: slug.describe("Name of the workspace secret that signs the notifications."),
    })
    .nullable()
    .default(null)
    .describe("Where a push pool sends notifications; required with `push`, null with `pull`."),
});

export type RunnerPoolFields = z.output<typeof schema>;

const TOKEN = "token";

/**
 * A pool of runners. Runners connect to a pull pool with the pool's token. The service stores the token as a hash, and
 * returns it only once, when the service issues it. A push pool sends notifications of work to a URL.
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
