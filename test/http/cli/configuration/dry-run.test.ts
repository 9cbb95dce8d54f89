import t from "tap";
import { refuseUnwritable } from "../../../../http/cli/configuration/dry-run.js";
import { exportedKinds } from "../../../../http/cli/configuration/hcl-module.js";
import { ResourceApi } from "../../../../http/cli/configuration/live.js";
import type { Step } from "../../../../http/cli/configuration/make-plan.js";
import { createClient } from "../../../../http/client/entry.js";

/** Requests a dry run of one delete, and returns the notes. The service's response has this status and body. */
async function notesOf(status: number, body: string): Promise<readonly string[]> {
  const [kind] = exportedKinds;
  if (kind === undefined) throw new Error("no kind is exported");
  const live = { kind, id: "it", version: 1, address: "it", teamId: null, fields: {}, warnings: [] };
  const steps: readonly Step[] = [{ action: "delete", live }];
  const plan = { steps, target: { slug: "acme", id: "ws_1" } };
  const api = new ResourceApi(createClient({ fetch: async () => new Response(body, { status }) }));
  const notes: string[] = [];
  await refuseUnwritable({ terminal: { note: (line) => void notes.push(line) } }, plan, api);
  return notes;
}

t.test("a plan that the service cannot check, or whose response is not valid, is a note", async (t) => {
  const invalid = { type: "urn:service:problem:invalid", detail: "changes: must have at most 1000 changes" };
  t.match(await notesOf(422, JSON.stringify(invalid)), [/did not check the plan.*at most 1000 changes$/]);
  t.match(await notesOf(404, ""), [/its release cannot do that$/]);
  for (const body of ["<html>", "{}", '{"refusals":[{"change":"x"}]}'])
    t.match(await notesOf(200, body), [/did not check the plan.*its response is not valid$/], body);
  t.same(await notesOf(200, '{"refusals":[]}'), []);
  await t.rejects(notesOf(503, "down"));
});
