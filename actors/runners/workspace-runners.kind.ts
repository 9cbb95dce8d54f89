import { z } from "zod";
import type { Reading } from "../../storage/store.js";
import { slug } from "../resources/fields.js";
import type { Kind } from "../resources/kind.js";
import { findResource, resourceAddresses } from "../resources/resource.table.js";

const schema = z.strictObject({
  defaultPool: slug
    .nullable()
    .default(null)
    .describe("Key of the pool for stations that name none; null for no default."),
  maxConcurrentRuns: z
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(10_000, "must be at most 10000")
    .nullable()
    .default(null)
    .describe("Most runs that the workspace executes at the same time; null for no limit."),
  replaySlotsPercent: z
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(100, "must be at most 100")
    .nullable()
    .default(null)
    .describe(
      "The share of each pool's slots, in percent, that replays, checks and searches may use together; at " +
        "least one slot. Null for 50.",
    ),
});

export type WorkspaceRunnersFields = z.output<typeof schema>;

const noSettings: WorkspaceRunnersFields = schema.parse({});

const KIND = "workspace-runners";

/**
 * A workspace's default pool, run limit and share of slots for replays. A workspace has at most one such resource. Its
 * address is the workspace's slug.
 */
export const workspaceRunnersKind: Kind<WorkspaceRunnersFields> = {
  name: KIND,
  plural: "workspace-runners",
  idPrefix: "wr",
  heldBy: "workspace",
  permission: "manage-runners",
  schema,
  fixed: [],
  hcl: {},
  hidden: [],
  address: (_fields, workspaceSlug) => workspaceSlug,
  references: ({ defaultPool }) =>
    defaultPool === null ? [] : [{ path: "defaultPool", kind: "runner-pool", address: defaultPool }],
};

/** Returns the workspace's settings. A setting that is not set is null. */
export function workspaceRunners(reading: Reading, workspaceId: string): WorkspaceRunnersFields {
  const [id] = resourceAddresses.list(reading, workspaceId, [KIND], { limit: 1 });
  const row = id === undefined ? undefined : findResource<WorkspaceRunnersFields>(reading, workspaceId, KIND, id);
  return row?.fields ?? noSettings;
}
