import { z } from "zod";
import { completedFields } from "../../actors/resources/fields.js";
import type { Kind } from "../../actors/resources/kind.js";

const warning = z.strictObject({
  path: z.string().describe("Path of the setting, such as `stations[0].harness`; empty for the whole resource."),
  message: z.string().describe("Why the setting does not work as written."),
  severity: z.literal("warning").describe("Always `warning`: the resource is stored all the same."),
});

/**
 * Returns the response schema of a resource: common fields, the kind's fields without hidden ones, and the fields that
 * the kind adds.
 */
export function representationSchema(kind: Kind): z.ZodType {
  if (!(kind.schema instanceof z.ZodObject)) throw new Error(`the schema of ${kind.name} must be an object`);
  const shape = shownShape(
    kind.schema,
    kind.hidden.map(({ path }) => path),
  );
  return z
    .strictObject({
      id: z.string().describe("Issued on create; never changes."),
      version: z.int().describe("Rises with every change; carried as the ETag."),
      address: z.string().describe("Names the resource within its workspace; the import operation takes it."),
      ...(kind.heldBy === "none"
        ? {}
        : { workspaceId: z.string().describe("Id of the workspace that contains the resource.") }),
      ...(kind.heldBy === "team" || kind.heldBy === "station"
        ? { teamId: z.string().describe("Id of the team that the resource belongs to.") }
        : {}),
      ...shape,
      ...kind.added,
      ...kind.live?.schemas,
      warnings: z.array(warning).describe("Settings that are accepted but cannot be honoured as written."),
    })
    .meta({ title: kind.name });
}

function shownShape(schema: z.ZodObject, hidden: readonly string[]): Record<string, z.core.$ZodType> {
  const shape: Record<string, z.core.$ZodType> = {};
  for (const [name, field] of Object.entries(schema.shape)) {
    if (hidden.includes(name)) continue;
    const below = hidden.filter((path) => path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1));
    shape[name] = withoutHidden(field, below);
  }
  return shape;
}

/**
 * Returns the response schema of a field. Hidden fields are left out, fields with a default and completed fields are
 * always present, and alternative spellings are removed.
 */
function withoutHidden(schema: z.core.$ZodType, hidden: readonly string[]): z.ZodType {
  const made = remade(schema, hidden);
  const description = z.globalRegistry.get(schema)?.description;
  return description === undefined || made === schema ? made : made.describe(description);
}

function remade(schema: z.core.$ZodType, hidden: readonly string[]): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return withoutHidden(schema.unwrap(), hidden);
  if (schema instanceof z.ZodOptional) {
    const shown = withoutHidden(schema.unwrap(), hidden);
    return completedFields.has(schema) ? shown : shown.optional();
  }
  if (schema instanceof z.ZodNullable) return withoutHidden(schema.unwrap(), hidden).nullable();
  if (schema instanceof z.ZodArray) return z.array(withoutHidden(schema.element, hidden));
  if (schema instanceof z.ZodRecord)
    return z.record(schema.keyType as z.ZodString, withoutHidden(schema.valueType, hidden));
  if (schema instanceof z.ZodObject) return z.strictObject(shownShape(schema, hidden));
  if (schema instanceof z.ZodUnion) {
    const retained = schema.options.filter((option) => !isRewritten(option));
    const [only, ...others] = (retained.length === 0 ? schema.options : retained).map((option) =>
      withoutHidden(option, hidden),
    );
    if (only === undefined) return z.unknown();
    return others.length === 0 ? only : z.union([only, ...others]);
  }
  if (schema instanceof z.ZodPipe) return withoutHidden(isRewritten(schema) ? schema.in : schema.out, hidden);
  return schema as z.ZodType;
}

/**
 * Whether the schema is a transform. As an option of a union, such a schema only converts an alternative spelling into
 * the form of another option.
 */
function isRewritten(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodPipe && schema.out instanceof z.ZodTransform;
}
