import { z } from "zod";
import { expression, jsonTemplate, template } from "../expressions/schemas.js";

/** The name of a value that expressions can read. */
export const variableName = z
  .string()
  .max(64, "must be at most 64 characters")
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must start with a letter or _, then letters, digits and _");

const headerName = z
  .string()
  .max(255, "must be at most 255 characters")
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "must be a header name")
  .refine((name) => !/^(host|content-length|transfer-encoding|connection)$/i.test(name), "is set by the service");

/** The name of a header that carries a signature or a credential. */
export const headerField = headerName;

const MAX_NAMES = 100;

/** A map with at most 100 names. */
export function named<Value extends z.ZodType>(name: z.ZodString, value: Value) {
  return z
    .record(name, value)
    .refine((map) => Object.keys(map).length <= MAX_NAMES, `must name at most ${MAX_NAMES}`)
    .default({});
}

const parts = {
  url: template
    .min(1, "must not be empty")
    .describe("Its address, on one of `hosts`; values of expressions in it are percent-encoded."),
  query: named(z.string().min(1, "must not be empty").max(255, "must be at most 255 characters"), template).describe(
    "Parameters that are added to the address.",
  ),
  headers: named(headerName, template).describe("Headers of the request, by name."),
  body: jsonTemplate.optional().describe("Sent as JSON, or as a form or text if the header `content-type` says so."),
};

const method = z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"], "must be GET, POST, PUT, PATCH or DELETE");

const METHOD = "HTTP method of the request.";

/** A request whose response is used unchanged. */
export const fetchSchema = z.strictObject({ method: method.default("GET").describe(METHOD), ...parts });

/** A request whose response is checked for success and may give captures. */
export function requestSchema(usualMethod: z.output<typeof method>) {
  return z.strictObject({
    method: method.default(usualMethod).describe(METHOD),
    ...parts,
    expect: z
      .strictObject({ success: expression.describe("Whether the request succeeded, from `response` and `status`.") })
      .nullable()
      .default(null)
      .describe("The condition for success; if null, a 2xx status."),
    capture: named(variableName, expression).describe("Values from the answer, by name."),
  });
}
