import t from "tap";
import type { IntegrationFields } from "../../../../actors/integrations/definition.js";
import { toRequestDigest } from "../../../../actors/integrations/requests/request-digest.js";
import { findResource } from "../../../../actors/resources/resource.table.js";
import {
  acting,
  INTEGRATION,
  integrationRows,
  requesting,
  WORKSPACE,
  writeIntegration,
} from "../../../support/integration-rows.js";

t.test("what a person approved is sent, and nothing else", async (t) => {
  const rows = integrationRows(acting({ method: "POST" }));
  const { run, sent } = requesting(rows);
  const integration = findResource<IntegrationFields>(rows, WORKSPACE, "integration", INTEGRATION);
  const request = integration?.fields.actions.act?.request;
  if (integration === undefined || request === undefined) throw new Error("there is an action");
  const approvedDigest = toRequestDigest("act", request, integration.fields);
  t.match(await run({ approvedDigest }), { success: true });
  writeIntegration(rows, acting({ method: "DELETE" }));
  t.match(await run({ approvedDigest }), { code: "not-allowed", reason: /has changed since it was approved/ });
  writeIntegration(rows, acting({ method: "POST" }, { connection: { token: { secret: "another" } } }));
  t.match(await run({ approvedDigest }), { code: "not-allowed", reason: /has changed since it was approved/ });
  t.equal(sent.length, 1);
});
