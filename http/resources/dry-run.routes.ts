import { z } from "zod";
import {
  type BodyToPrepare,
  dryRun,
  type RefusedChange,
  type TriedChange,
} from "../../actors/access/dry-run/dry-run.js";
import { permit } from "../../actors/access/visibility/visibility.js";
import { callerId } from "../../actors/caller.js";
import { isRefusal, type Refusal } from "../../actors/refusal.js";
import type { Kind } from "../../actors/resources/kind.js";
import { readingBack } from "../../actors/resources/read-back.js";
import type { PreparedBody } from "../../actors/resources/resource.messages.js";
import type { Sealer } from "../../actors/sealer.js";
import type { Runtime } from "../../runtime/runtime.js";
import { ConcurrencyLimit } from "../limits/concurrency-limit.js";
import { runInSteps } from "../wire/in-steps.js";
import { problems, toDetail } from "../wire/problem.js";
import { Refused } from "../wire/refused.js";
import { EXAMPLE_ULID, type Route, route } from "../wire/route.js";
import { findExampleBody } from "./kind-examples.js";
import { prepare, withoutRepeated } from "./prepare.js";

interface DryRunRoutesOptions {
  readonly runtime: Runtime;
  readonly kinds: readonly Kind[];
  readonly sealer: Sealer;
}

/**
 * Maximum numbers of concurrent dry runs: per caller, per workspace and in total. Each dry run holds a view of the
 * store.
 */
const MAX_DRY_RUNS = { each: 4, workspace: 16, all: 64 };

const id = z.string().min(1, "must not be empty").max(300, "must be at most 300 characters");
const existing = id.describe("Id of the existing resource to replace or delete.");
const version = z.int().describe("The version that the change is based on.");
const body = z.unknown().describe("The body of the create or update.");

/** Maximum number of changes. The cost of a create grows with the number of changes before it. */
const MAX_CHANGES = 1_000;

/**
 * The schema of a dry-run request. It leaves out kinds that stations hold, because they are not part of configuration
 * as code.
 */
function toSchema(kinds: readonly Kind[]) {
  const names = kinds.filter(({ heldBy }) => heldBy !== "station").map(({ name }) => name);
  const kind = z.enum(names).describe("Kind of the resource, such as `line`.");
  return z.strictObject({
    workspaceId: z
      .string()
      .nullable()
      .describe("The workspace of all changes. Null for a new one, which the first change creates."),
    changes: z
      .array(
        z.discriminatedUnion("action", [
          z.strictObject({
            action: z.literal("create").describe("Creates a resource with the fields of `body`."),
            kind,
            id: id.describe("A name for the id of the new resource, which `teamId` of later changes may be."),
            teamId: id.nullable().default(null).describe("The team of the resource; null if no team holds its kind."),
            body,
          }),
          z.strictObject({
            action: z.literal("update").describe("Replaces the fields of a resource with those of `body`."),
            kind,
            id: existing,
            version,
            body,
          }),
          z.strictObject({
            action: z.literal("delete").describe("Deletes a resource that nothing uses."),
            kind,
            id: existing,
            version,
          }),
        ]),
      )
      .max(MAX_CHANGES, `must have at most ${MAX_CHANGES} changes`)
      .describe(`The changes in the order in which they would be made; at most ${MAX_CHANGES}.`),
  });
}

const answer = z
  .strictObject({
    refusals: z
      .array(
        z.strictObject({
          change: z.int().describe("The index of the change in `changes`."),
          type: z.string().describe("The type of the problem that the change would get."),
          title: z.string().describe("Short summary of the problem for people."),
          detail: z.string().describe("What is wrong with the change, as in the problem."),
          errors: z
            .array(
              z.strictObject({
                path: z.string().describe("Path of the field in the body, such as `stations[0].key`."),
                message: z.string().describe("What is wrong with the field's value."),
              }),
            )
            .describe("The invalid fields, if the problem is `invalid`."),
        }),
      )
      .describe("The changes that the service would refuse, in their order; empty if it would make all of them."),
  })
  .meta({ title: "dry-run" });

/**
 * The route that tries changes of a workspace without storing them, and returns which changes the service would refuse.
 */
export function dryRunRoutes({ runtime, kinds, sealer }: DryRunRoutesOptions): readonly Route[] {
  const underWay = new ConcurrencyLimit(MAX_DRY_RUNS);
  const made = route({
    method: "POST",
    path: "/api/resources/dry-run",
    summary: "Find which changes of a workspace would be refused",
    description:
      "Makes the changes one after the other in memory and stores nothing. A change is refused as the create, update " +
      "or delete would be: by its fields, its references, its uses, the caller's permissions and the settings of the " +
      "deployment. A change that is still in use, or invalid while another one waits, is tried again after the others. " +
      "Resources of a team that is refused are not tried. What happens after the response may still refuse a change. A " +
      `person or token can have ${MAX_DRY_RUNS.each} dry runs in progress; further requests get 429.`,
    operation: "dryRun",
    access: "any",
    isServedReadOnly: true,
    body: toSchema(kinds),
    example: {
      workspaceId: `ws_${EXAMPLE_ULID}`,
      changes: [
        { action: "create", kind: "team", id: "new team", body: findExampleBody("team")?.(1) },
        { action: "create", kind: "skill", id: "new skill", teamId: "new team", body: findExampleBody("skill")?.(1) },
      ],
    },
    answers: { 200: answer },
    problems: ["not-found"],
    handle: async (request) => {
      const { caller, client, body: given } = request;
      if (given.workspaceId !== null) {
        const hidden = permit(runtime.reading, caller, given.workspaceId, "read", "workspace");
        if (hidden !== null) throw new Refused(hidden);
      }
      const workspaceId = given.workspaceId ?? runtime.newId("ws");
      const end = underWay.begin(callerId(caller), workspaceId);
      if (end === null) {
        return { refused: "too-many-requests", detail: "Too many dry runs are in progress.", retryAfterSeconds: 5 };
      }
      const view = runtime.view();
      try {
        const scope = {
          reading: view,
          kinds,
          caller,
          client,
          now: runtime.clock.now(),
          workspaceId,
          isNew: given.workspaceId === null,
          newId: (prefix: string) => runtime.newId(prefix),
          prepare: (change: BodyToPrepare) => prepareBody(change, sealer, () => runtime.newId("token")),
        };
        const refused = await runInSteps(dryRun(scope, given.changes as readonly TriedChange[]), request);
        return { status: 200, body: { refusals: refused.map(toBody) } };
      } finally {
        view.close();
        end();
      }
    },
  });
  return [made];
}

function prepareBody(
  { kind, body, base }: BodyToPrepare,
  sealer: Sealer,
  makeToken: () => string,
): PreparedBody | Refusal {
  if (base === null) return prepare(kind, body, sealer, makeToken);
  const { row, version } = base;
  const prepared = readingBack(kind, { row, version, body }, (changed) => prepare(kind, changed, sealer, null));
  if (isRefusal(prepared) || row.version !== version) return prepared;
  return { ...prepared, hidden: withoutRepeated(kind, prepared, row, sealer) };
}

function toBody({ change, refusal }: RefusedChange) {
  const [, title] = problems[refusal.refused];
  return {
    change,
    type: `urn:service:problem:${refusal.refused}`,
    title: "title" in refusal && refusal.title !== undefined ? refusal.title : title,
    detail: toDetail(refusal),
    errors: refusal.refused === "invalid" ? refusal.errors : [],
  };
}
