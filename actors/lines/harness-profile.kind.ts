import { z } from "zod";
import type { FieldError } from "../refusal.js";
import { slug } from "../resources/fields.js";
import type { Kind } from "../resources/kind.js";
import { harnessName, timeoutMinutes } from "./station.js";

const MAX_VARIABLES = 100;

const variable = z
  .string()
  .max(128, "must be at most 128 characters")
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable")
  .refine((name) => !name.startsWith("SIGNALBOX_"), "must not start with SIGNALBOX_: the runner sets these variables");

const text = z
  .string()
  .max(8_192, "must be at most 8192 characters")
  .refine((value) => !value.includes("\0"), "must not contain a NUL character");

function variables<Value extends z.ZodType>(value: Value) {
  return z
    .record(variable, value)
    .refine((map) => Object.keys(map).length <= MAX_VARIABLES, `must be at most ${MAX_VARIABLES} variables`)
    .default({});
}

const schema = z.strictObject({
  key: slug.describe("Names the profile within its team; lowercase words joined by dashes. Fixed after the create."),
  harness: harnessName
    .default("command")
    .describe("Harness that the profile is for; other stations cannot use it. Fixed after the create."),
  args: z
    .array(text)
    .max(100, "must be at most 100 arguments")
    .default([])
    .describe("Arguments that the runner passes to the harness, in order; at most 100."),
  env: variables(text).describe("Values of environment variables for the agent, by variable name; at most 100."),
  secrets: variables(slug).describe("Names of workspace secrets by environment variable; the agent gets their values."),
  timeoutMinutes: timeoutMinutes
    .nullable()
    .default(null)
    .describe("Shorter run limit than the station's, in minutes; at most 1440. Null keeps the station's limit."),
});

export type HarnessProfileFields = z.output<typeof schema>;

/** How to start a harness: its arguments and its environment, including secrets of the workspace. */
export const harnessProfileKind: Kind<HarnessProfileFields> = {
  name: "harness-profile",
  plural: "harness-profiles",
  idPrefix: "prof",
  heldBy: "team",
  permission: "configure",
  schema,
  // The harness may not change, because stations that name the profile depend on it.
  fixed: ["key", "harness"],
  hcl: {},
  hidden: [],
  title: ({ key }) => key,
  address: (fields, teamKey) => `${teamKey}/${fields.key}`,
  references: ({ secrets }) =>
    Object.entries(secrets).map(([name, address]) => ({ path: `secrets.${name}`, kind: "secret", address })),
  validate: ({ env, secrets }): readonly FieldError[] =>
    Object.keys(secrets)
      .filter((name) => Object.hasOwn(env, name))
      .map((name) => ({ path: `secrets.${name}`, message: "is also in env" })),
};
