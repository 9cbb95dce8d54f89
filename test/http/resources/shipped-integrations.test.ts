import { format } from "@cdktn/hcl-tools";
import t from "tap";
import { createKinds } from "../../../actors/catalogue.js";
import { listExpressions } from "../../../actors/expressions/positions.js";
import { readTemplate } from "../../../actors/expressions/templates.js";
import { validateAtPosition } from "../../../actors/expressions/validate-at-position.js";
import { integrationSchema } from "../../../actors/integrations/definition.js";
import { integrationLanguage } from "../../../actors/integrations/integration-expressions.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { pathText } from "../../../actors/refusal.js";
import { applyModule, readModule } from "../../support/hcl-module.js";
import { workspaceWithTeam } from "../../support/resources.js";
import { type Client, startTestService } from "../../support/service.js";
import { createShipped, shippedFiles, shippedIntegration, shippedText } from "../../support/shipped-integrations.js";

/** The service accepts the integrations of `docs/integrations/` unchanged. */

const settings = { OUTBOUND_ALLOW: "api.linear.app,slack.com,files.slack.com,api.github.com" };

async function teamWithLine(owner: Client, slug: string) {
  const at = await workspaceWithTeam(owner, slug);
  const stations = [{ key: "work", name: "Work", kind: "work" }];
  await owner.create(`/api/resources/teams/${at.teamId}/lines`, { key: "fix", name: "Fix", stations });
  return at;
}

/** Returns a resource without the fields that the service added. */
function written(resource: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const given = ["id", "version", "address", "teamId", "workspaceId", "deliveriesUrl"];
  return Object.fromEntries(Object.entries(resource).filter(([name]) => !given.includes(name)));
}

t.test("each shipped definition is taken without a warning, and its HCL says the same", async (t) => {
  const service = await startTestService(t, { settings });
  const owner = await service.signIn("owner@example.com");
  const kinds = createKinds({ allowList: parseAllowList(settings.OUTBOUND_ALLOW), signsTokens: false });
  for (const [index, file] of shippedFiles.entries()) {
    const made = await createShipped(owner, await teamWithLine(owner, `json-${index}`), shippedIntegration(file));
    t.same(made.warnings, [], file);
    if (!file.endsWith("/integration.json")) continue;
    const delivery = shippedText(file.replace("integration.json", "delivery.json"));
    const tried = await owner.request("POST", `/api/integrations/${made.id}/deliveries/try`, JSON.parse(delivery));
    t.match(tried.body, { state: "done", isVerified: false, entries: [{ raise: { opens: { title: /ogin fails/ } } }] });
    const name = file.replace(/json$/, "tf");
    const content = shippedText(name);
    t.equal(await format(content), content, `${name} is formatted`);
    const module = await readModule(
      ["main.tf", "variables.tf"].map((path) => ({ path, content })),
      kinds,
    );
    const { workspaceId, teamId } = await teamWithLine(owner, `hcl-${index}`);
    const ids: Readonly<Record<string, string>> = { workspace_id: workspaceId, team_id: teamId };
    const applied = await applyModule(module, owner, (variable) => ids[variable] ?? `the ${variable}`);
    const [again] = [...applied].filter(([at]) => at.startsWith("service_integration.")).map(([, each]) => each);
    t.same(written({ ...again }), written(made), `${name} is the same integration`);
  }
});

t.test("every expression of them has a type at its position", async (t) => {
  const parse = (given: unknown) => ({ definition: integrationSchema.parse(given) });
  for (const file of shippedFiles) {
    const { definition } = shippedIntegration(file);
    const places = listExpressions(integrationLanguage, integrationSchema.parse(definition));
    t.ok(places.length > 20, `${file} holds expressions`);
    const untyped = places.flatMap(({ path, text }) => {
      const read = readTemplate(text);
      const parts = "fault" in read ? [] : read.template.flatMap((part) => (typeof part === "string" ? [] : [part]));
      const position = pathText(["integration", ...path]);
      return parts.flatMap(({ source }) => {
        const checked = validateAtPosition([{ language: integrationLanguage, parse }], {
          position,
          expression: source,
          definition,
        });
        const isFine = !("refused" in checked) && checked.type !== null && checked.faults.length === 0;
        return isFine ? [] : [`${position}: ${source}`];
      });
    });
    t.same(untyped, [], file);
  }
});
