import { z } from "zod";
import type { FieldError } from "../refusal.js";
import { slug } from "../resources/fields.js";
import type { Kind } from "../resources/kind.js";

const label = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be letters, digits, dots, dashes or underscores")
  .max(64, "must be at most 64 characters");

const schema = z.strictObject({
  key: slug,
  kind: z.enum(["pull", "push"], "must be pull or push").default("pull"),
  labels: z.array(label).max(50, "must be at most 50 labels").default([]),
  concurrency: z.int("must be a whole number").min(1, "must be at least 1").max(10_000).nullable().default(null),
  token: z
    .string()
    .regex(/^[A-Za-z0-9_-]{32,128}$/, "must be 32 to 128 characters of base64url")
    .optional(),
});

export type RunnerPoolFields = z.output<typeof schema>;

/** A pool of runners. The token that its runners connect with is kept as a hash and told once when it is issued. */
export const runnerPoolKind: Kind<RunnerPoolFields> = {
  name: "runner-pool",
  plural: "runner-pools",
  idPrefix: "pool",
  heldBy: "workspace",
  permission: "manage-runners",
  schema,
  fixed: ["key", "kind"],
  hcl: {},
  hidden: [{ path: "token", keep: "hash" }],
  reveals: { path: "token", header: "service-pool-token", when: (fields) => fields.kind === "pull" },
  address: (fields) => fields.key,
  references: () => [],
  check: (fields): readonly FieldError[] =>
    fields.kind === "push" ? [{ path: "kind", message: "push pools are not served yet: use pull" }] : [],
};
