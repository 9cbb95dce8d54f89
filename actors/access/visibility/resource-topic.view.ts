import { z } from "zod";
import type { Kind } from "../../resources/kind.js";
import { toRepresentation } from "../../resources/representation.js";
import { findResource } from "../../resources/resource.table.js";
import { type ChangeFor, locateWorkspace, type StreamTopic, toAll } from "./stream-topic.js";

/**
 * Creates the topic of one resource of a kind. The topic also has the changes of the resources that this resource
 * holds.
 */
export function resourceTopic(kinds: readonly Kind[], name: string): StreamTopic {
  const kind = kinds.find((one) => one.name === name);
  if (kind === undefined) throw new Error(`no kind ${name}`);
  const ofOutcomes = new Set(kinds.filter(({ seenBy }) => seenBy === "outcomes").map((one) => one.name));
  return {
    workspaceOf: locateWorkspace,
    audience: (reading, { workspaceId, id }) =>
      findResource(reading, workspaceId, name, id) === undefined ? undefined : "readers",
    view: (reading, { workspaceId, id }) => {
      const row = findResource(reading, workspaceId, name, id);
      return row === undefined ? undefined : toRepresentation(kind, row, reading);
    },
    change: (_reading, { id }, data) => visibleChange(ofOutcomes, id, data),
  };
}

/**
 * Restricts a change to its audiences:
 *
 * - Configuration changes: administrators get the complete change. Other readers get the change without its author
 *   and details, as in the change log.
 * - Changes of hooks, deliveries, action runs and pull requests, and configuration changes of kinds in `ofOutcomes`:
 *   only callers who can read the team's outcomes get the change.
 * - Changes of members: only users of the workspace get the change, as for the member list.
 */
function visibleChange(ofOutcomes: ReadonlySet<string>, id: string, data: unknown): readonly ChangeFor[] {
  const change = changeSchema.safeParse(data).data;
  if (change === undefined) return toAll(data);
  if (change.type === "member") return [{ audience: "people", data }];
  if (change.type !== "configuration") return [{ audience: { outcomesOf: id }, data }];
  const isOfOutcomes = ofOutcomes.has(change.change.resource);
  return [
    { audience: "administrators", data },
    { audience: isOfOutcomes ? { outcomesOf: id } : "readers", data: change },
  ];
}

/**
 * The changes that are restricted to audiences. For a configuration change, the schema has only the fields that all
 * readers of the change may see.
 */
const changeSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("hook") }),
  z.object({ type: z.literal("delivery") }),
  z.object({ type: z.literal("action-run") }),
  z.object({ type: z.literal("pull-request") }),
  z.object({ type: z.literal("member") }),
  z.object({
    type: z.literal("configuration"),
    change: z.object({
      resource: z.string(),
      resourceId: z.string(),
      key: z.string(),
      action: z.string(),
      at: z.string(),
    }),
  }),
]);
