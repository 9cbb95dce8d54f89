import type { oas31 } from "zod-openapi";
import { type ProblemSlug, problems } from "../wire/problem.js";
import { answerHeaders, pascal } from "./components.js";

const extras: Readonly<Partial<Record<ProblemSlug, Readonly<Record<string, unknown>>>>> = {
  invalid: {
    detail: "name: must not be empty",
    errors: [{ path: "name", message: "must not be empty", severity: "error" }],
  },
  "moved-on": { detail: "The line core/dev is at version 4 now.", currentVersion: 4 },
  forbidden: {
    title: "Not allowed to change the line",
    detail: "This needs the permission configure, which your role or token does not give.",
    permission: "configure",
  },
};

const headers: Readonly<Partial<Record<ProblemSlug, oas31.HeadersObject>>> = {
  unauthenticated: {
    "WWW-Authenticate": {
      description: "`Bearer`, or `Basic` with a realm for a webhook that verifies HTTP Basic.",
      schema: { type: "string" },
    },
  },
  "too-many-requests": {
    "Retry-After": { description: "Seconds to wait before a retry.", schema: { type: "string" } },
  },
  unavailable: { "Retry-After": { description: "Seconds to wait before a retry.", schema: { type: "string" } } },
};

/** The problem responses of operations, shared as components. */
export class ProblemResponses {
  readonly components: Record<string, oas31.ResponseObject> = {};

  /** Returns references to the responses for these problems, by status. */
  read(slugs: readonly ProblemSlug[]): Record<`${1 | 2 | 3 | 4 | 5}${string}`, oas31.ReferenceObject> {
    const byStatus = new Map<number, ProblemSlug[]>();
    for (const slug of slugs) {
      const [status] = problems[slug];
      byStatus.set(status, [...(byStatus.get(status) ?? []), slug]);
    }
    const responses: Record<string, oas31.ReferenceObject> = {};
    for (const [status, ofStatus] of [...byStatus].sort(([left], [right]) => left - right)) {
      const sorted = ofStatus.sort();
      const name = pascal(sorted.join(" or "));
      this.components[name] ??= toResponse(sorted);
      responses[status] = { $ref: `#/components/responses/${name}` };
    }
    return responses;
  }
}

function toResponse(slugs: readonly ProblemSlug[]): oas31.ResponseObject {
  return {
    description: slugs.map((slug) => `\`${slug}\`: ${problems[slug][1]}.`).join(" "),
    headers: { ...answerHeaders, ...Object.assign({}, ...slugs.map((slug) => headers[slug] ?? {})) },
    content: {
      "application/problem+json": {
        schema: { $ref: "#/components/schemas/Problem" },
        examples: Object.fromEntries(slugs.map((slug) => [slug, { value: toExample(slug) }])),
      },
    },
  };
}

function toExample(slug: ProblemSlug): Record<string, unknown> {
  const [status, title] = problems[slug];
  return { type: `urn:service:problem:${slug}`, title, status, detail: `${title}.`, ...extras[slug] };
}
