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
  url: template
    .min(1, "must not be empty")
    .max(2_000, "must be at most 2000 characters")
    .describe("URL for the POST request, with expressions; https unless `from` is `network`."),
  headers: z
    .record(headerName, headerValue)
    .refine(hasAtMostHundred, "must be at most 100 headers")
    .default({})
    .describe("Further request headers by name, with expressions; the service sets credentials and content type."),
  body: jsonTemplate
    .default(null)
    .describe("JSON body, whose texts may contain expressions; null sends the event, task and run."),
  from: z
    .enum(["service", "network"], "must be service or network")
    .default("service")
    .describe("`service`: the service sends the request. `network`: a host of the workspace sends it."),
});

const step = z.strictObject({
  name: slug.describe("Names the step within its hook; later steps read its output as `step.<name>`."),
  call: toolName
    .nullable()
    .default(null)
    .describe("Tool to call, as `<integration>.<tool>`; null if the step makes a request."),
  with: z
    .record(z.string(), jsonTemplate)
    .nullable()
    .default(null)
    .describe("Inputs of the tool by name, whose texts may contain expressions; only with `call`."),
  request: request.nullable().default(null).describe("HTTP request to make; null if the step calls a tool."),
});

const signing = z.strictObject({
  secret: z
    .string()
    .refine(isSigningSecret, "must be whsec_ followed by 24 to 64 base64-encoded bytes")
    .optional()
    .describe("HMAC key: `whsec_` and base64 of 24 to 64 bytes. Required when `secretVersion` changes."),
  secretVersion: z
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .optional()
    .describe("Your number for the secret, at least 1; change it to rotate the secret."),
  oidc: z
    .strictObject({
      audience: z
        .string()
        .min(1, "must not be empty")
        .max(255)
        .describe("Value of `aud` in the token that each request carries; 1 to 255 characters."),
    })
    .optional()
    .describe("Signs requests with an OIDC token instead of a secret."),
});

/** The name of an event that a hook can handle. */
export const workEventName = z.enum(workEventNames, `must be an event: ${workEventNames.join(", ")}`);

/** The definition of a hook. */
export const hookSchema = z.strictObject({
  key: slug.describe("Names the hook within its team; lowercase words joined by dashes. Fixed after the create."),
  on: workEventName.describe("Event that fires the hook, such as `run.ended`."),
  match: z
    .strictObject({
      tools: list(toolName).describe("Tools as `<integration>.<tool>`; only on `tool.using` and `tool.used`."),
      lines: list(slug).describe("Keys of the lines whose tasks fire the hook; empty for all."),
      stations: list(slug).describe("Keys of the stations that fire the hook; empty for all."),
      repositories: list(repositoryName).describe(
        "Repositories as `owner/name`: of the pull request, or any of the line's; empty for all.",
      ),
      paths: list(z.string().min(1, "must not be empty").max(1_024)).describe(
        "Globs of changed paths; only on `pull-request.opening` and `pull-request.merged`.",
      ),
    })
    .default({ tools: [], lines: [], stations: [], repositories: [], paths: [] })
    .describe("Lists that must all match the event; an empty list matches everything."),
  when: condition
    .nullable()
    .default(null)
    .describe("Expression that must be true for the hook to fire; null for no condition."),
  vars: z
    .record(
      z.string().regex(plainName, "must start with a letter or _, then letters, digits or _"),
      z.string().max(2_000),
    )
    .refine(hasAtMostHundred, "must be at most 100 vars")
    .default({})
    .describe("Texts that expressions read as `vars.<name>`, by name; at most 100."),
  steps: z
    .array(step)
    .min(1, "must have at least one step")
    .max(20, "must be at most 20 steps")
    .describe("Tool calls and requests in order, 1 to 20; a failed step skips the later ones."),
  signing: signing
    .nullable()
    .default(null)
    .describe("How the service signs requests: a secret or `oidc`. Required if a step makes one."),
  failure: z
    .enum(["continue", "block"], "must be continue or block")
    .default("continue")
    .describe("`block` refuses the event if a step fails; only on before events such as `run.starting`."),
  timeoutSeconds: z
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(30, "must be at most 30")
    .default(10)
    .describe("Time limit of each request in seconds, 1 to 30; on a before event, of the whole hook."),
});

export type HookFields = z.output<typeof hookSchema>;
export type HookStep = HookFields["steps"][number];

function hasAtMostHundred(map: object): boolean {
  return Object.keys(map).length <= 100;
}

/**
 * Returns whether the text outside of expressions may be part of a header. Returns true for a malformed template,
 * because `template` reports it. The service checks the values of expressions when it sends the request.
 */
function hasHeaderText(text: string): boolean {
  const read = readTemplate(text);
  if ("fault" in read) return true;
  return read.template.every((part) => typeof part !== "string" || isHeaderText(part));
}
