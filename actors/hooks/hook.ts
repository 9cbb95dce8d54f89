import { z } from "zod";
import { workEventNames } from "../events/catalogue.js";
import { condition, jsonTemplate, template } from "../expressions/schemas.js";
import { readTemplate } from "../expressions/templates.js";
import { isHeaderText } from "../outbound/http/header-text.js";
import { repositoryName, slug, toolName } from "../resources/fields.js";
import { isSigningSecret } from "./signing-secret.js";

/** The form of a variable's name, and of a key that an expression can write after a dot. */
export const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const headerName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "must be a header name");
const headerValue = template
  .max(8_192, "must be at most 8192 characters")
  .refine(hasHeaderText, "must not contain control characters");
const list = <T extends z.ZodType>(item: T) => z.array(item).max(100, "must be at most 100 entries").default([]);

const request = z.strictObject({
  url: template.min(1, "must not be empty").max(2_000, "must be at most 2000 characters"),
  headers: z.record(headerName, headerValue).refine(hasAtMostHundred, "must be at most 100 headers").default({}),
  body: jsonTemplate.default(null),
  from: z.enum(["service", "network"], "must be service or network").default("service"),
});

const step = z.strictObject({
  name: slug,
  call: toolName.nullable().default(null),
  with: z.record(z.string(), jsonTemplate).nullable().default(null),
  request: request.nullable().default(null),
});

const signing = z.strictObject({
  secret: z.string().refine(isSigningSecret, "must be whsec_ followed by 24 to 64 base64-encoded bytes").optional(),
  secretVersion: z.int("must be a whole number").min(1, "must be at least 1").optional(),
  oidc: z.strictObject({ audience: z.string().min(1, "must not be empty").max(255) }).optional(),
});

/** The name of an event that a hook can handle. */
export const workEventName = z.enum(workEventNames, `must be an event: ${workEventNames.join(", ")}`);

/** The definition of a hook. */
export const hookSchema = z.strictObject({
  key: slug,
  on: workEventName,
  match: z
    .strictObject({
      tools: list(toolName),
      lines: list(slug),
      stations: list(slug),
      repositories: list(repositoryName),
      paths: list(z.string().min(1, "must not be empty").max(1_024)),
    })
    .default({ tools: [], lines: [], stations: [], repositories: [], paths: [] }),
  when: condition.nullable().default(null),
  vars: z
    .record(
      z.string().regex(plainName, "must start with a letter or _, then letters, digits or _"),
      z.string().max(2_000),
    )
    .refine(hasAtMostHundred, "must be at most 100 vars")
    .default({}),
  steps: z.array(step).min(1, "must have at least one step").max(20, "must be at most 20 steps"),
  signing: signing.nullable().default(null),
  failure: z.enum(["continue", "block"], "must be continue or block").default("continue"),
  timeoutSeconds: z
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(30, "must be at most 30")
    .default(10),
});

export type HookFields = z.output<typeof hookSchema>;
export type HookStep = HookFields["steps"][number];

function hasAtMostHundred(map: object): boolean {
  return Object.keys(map).length <= 100;
}

/**
 * Returns whether the text outside of expressions is valid in a header; true for a malformed template, which `template`
 * reports. The values of expressions are checked when the request is sent.
 */
function hasHeaderText(text: string): boolean {
  const read = readTemplate(text);
  if ("fault" in read) return true;
  return read.template.every((part) => typeof part !== "string" || isHeaderText(part));
}
