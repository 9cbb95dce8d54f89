import { z } from "zod";
import type { FieldError } from "../refusal.js";
import { distinct, hostName, slug } from "../resources/fields.js";
import type { Kind, WriteScope } from "../resources/kind.js";

const MAX_VALUE_BYTES = 64 * 1024;

const schema = z.strictObject({
  name: slug.describe(
    "Names the secret within its workspace; lowercase words joined by dashes. Fixed after the create.",
  ),
  value: z
    .string()
    .min(1, "must not be empty")
    .refine((value) => Buffer.byteLength(value) <= MAX_VALUE_BYTES, "must be at most 64 KiB")
    .optional()
    .describe("The secret text, at most 64 KiB. Required on create and when `valueVersion` changes."),
  valueVersion: z
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .describe("Your number for the value, at least 1; change it to store a new `value`."),
  hosts: distinct(hostName, "must name each host once")
    .max(100, "must be at most 100 hosts")
    .default([])
    .describe("Hosts that requests may send the secret to; empty for none. `*.` covers subdomains."),
});

export type SecretFields = z.output<typeof schema>;

/**
 * A secret value, stored sealed. The service never returns or logs the value. Requests may send it only to the secret's
 * hosts. Runs get it through harness profiles.
 */
export const secretKind: Kind<SecretFields> = {
  name: "secret",
  plural: "secrets",
  idPrefix: "sec",
  heldBy: "workspace",
  permission: "manage-secrets",
  schema,
  fixed: ["name"],
  hcl: {},
  hidden: [{ path: "value", keep: "sealed" }],
  address: (fields) => fields.name,
  references: () => [],
  validate: checkValue,
  details: (row) => ({ valueVersion: row.fields.valueVersion, hosts: row.fields.hosts }),
};

/** Requires a new version with every new value, and a new value with every new version. */
function checkValue(fields: SecretFields, scope: WriteScope<SecretFields>): readonly FieldError[] {
  const given = scope.hidden.value !== undefined;
  const isNew = scope.previous === null || scope.previous.fields.valueVersion !== fields.valueVersion;
  if (isNew && !given) return [{ path: "value", message: "is required with a new valueVersion" }];
  if (!isNew && given) return [{ path: "valueVersion", message: "must change when a new value is given" }];
  return [];
}
