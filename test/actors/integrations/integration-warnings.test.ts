import t from "tap";
import { type IntegrationFields, integrationSchema } from "../../../actors/integrations/definition.js";
import { integrationWarnings, markWarnings } from "../../../actors/integrations/integration-warnings.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { findResource, type ResourceRow } from "../../../actors/resources/resource.table.js";
import { expr } from "../../support/integration.js";
import { INTEGRATION, integrationRows, put, TEAM, WORKSPACE } from "../../support/integration-rows.js";

const url = "https://api.example.com/items";
const allowed = parseAllowList("api.example.com");

/** Returns the warnings of a definition, by path. */
function toWarnings(definition: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const rows = integrationRows(definition);
  const row = findResource<IntegrationFields>(
    rows,
    WORKSPACE,
    "integration",
    INTEGRATION,
  ) as ResourceRow<IntegrationFields>;
  // Expression warnings are cached by id and version, so each definition needs its own id.
  const fresh = { ...row, id: JSON.stringify(definition) };
  const warnings = integrationWarnings(integrationSchema.parse(row.fields), allowed, { reading: rows, row: fresh });
  return Object.fromEntries(warnings.map(({ path, message }) => [path, message]));
}

t.test("a kind of marks that another integration of the team sets has a warning, and no other kind", async (t) => {
  const events = ["issue", "thread"].map((kind) => ({ raise: { marks: { [kind]: { value: expr("body.id") } } } }));
  const definition = {
    webhook: { events },
    on: [{ event: "task.opened", action: "act", mark: { it: { value: expr("'x'") } } }],
  };
  const rows = integrationRows({ ...definition, actions: { act: { request: { url } } } });
  const row = findResource<IntegrationFields>(rows, WORKSPACE, "integration", INTEGRATION);
  if (row === undefined) throw new Error("there is no integration");
  const other = (id: string, teamId: string, marks: readonly string[]) =>
    put(rows, "integration", id, {
      workspaceId: WORKSPACE,
      teamId,
      address: `${teamId === TEAM ? "core" : "other"}/${id}`,
      fields: integrationSchema.parse({
        integration: id,
        name: id,
        hosts: ["api.example.com"],
        webhook: {
          events: [{ raise: { marks: Object.fromEntries(marks.map((kind) => [kind, { value: expr("'x'") }])) } }],
        },
      }),
    });
  t.same(markWarnings(rows, row), [], "its own do not count");
  other("elsewhere", "team_2", ["issue"]);
  other("chat", TEAM, ["conversation"]);
  t.same(markWarnings(rows, row), []);
  other("polled", TEAM, ["thread", "it"]);
  t.match(markWarnings(rows, row), [
    { path: "webhook.events[1].raise.marks.thread", message: /^the integration polled of the team also sets marks/ },
    { path: "on[0].mark.it" },
  ]);
});

t.test("a token is for requests: where an answer is read, the warning says that it reads ***", async (t) => {
  const request = { url, headers: { authorization: `Bearer ${expr("connection")}` } };
  const read = { capture: { mine: expr("connection") }, expect: { success: expr('connection != ""') } };
  const oauth2 = { authorizeUrl: url, tokenUrl: url, clientId: "c" };
  const warnings = toWarnings({
    connection: { oauth2 },
    actions: { act: { request: { ...request, ...read } } },
    tools: { act: { action: "act", output: expr("connection") } },
    on: [{ event: "task.opened", action: "act", mark: { it: { value: expr("connection") } } }],
  });
  t.same(Object.keys(warnings).sort(), [
    "actions.act.request.capture.mine",
    "actions.act.request.expect.success",
    "on[0].mark.it.value",
    "tools.act.output",
  ]);
  for (const message of Object.values(warnings)) t.match(message, /connection is masked as \*\*\*/);
  const named = { action: "act", output: expr("response.connection + 'connection'") };
  t.same(toWarnings({ actions: { act: { request: { url } } }, tools: { act: named } }), {}, "a field is no token");
});

t.test("a default of another type than its input, and a station that a line lacks, have no effect", async (t) => {
  const inputs = {
    wrong: { type: "number", default: "5" },
    fits: { type: "array", default: [1] },
    later: { type: "number", default: expr("task.line") },
  };
  const tools = { act: { action: "act", inputs } };
  t.same(toWarnings({ actions: { act: { request: { url } } }, tools }), {
    "tools.act.inputs.wrong.default": "is never used: the input is of type number",
  });
  const rows = integrationRows({});
  put(rows, "line", "line_1", { teamId: TEAM, address: "core/dev", fields: { stations: [{ key: "work" }] } });
  const row = findResource<IntegrationFields>(rows, WORKSPACE, "integration", INTEGRATION);
  if (row === undefined) throw new Error("there is no integration");
  const opens = (station: string) => ({ raise: { opens: { line: "dev", station, title: expr("'x'") } } });
  const poll = { request: { url }, events: [opens("work"), opens("review")] };
  const written = { integration: "tracker", name: "Tracker", hosts: ["api.example.com"], poll };
  const fields = integrationSchema.parse(written);
  t.match(integrationWarnings(fields, allowed, { reading: rows, row: { ...row, id: "int_stations", fields } }), [
    { path: "poll.events[1].raise.opens.station", message: "opens nothing: the line dev has no station review" },
  ]);
});

t.test(
  "what acts has no warning; a schedule that acts as no person and a capture that nothing sees have one",
  async (t) => {
    const oauth2 = { authorizeUrl: url, tokenUrl: url, clientId: "c" };
    const acting = {
      actions: { act: { request: { url }, schedule: { everyMinutes: 5 } } },
      tools: { act: { action: "act" } },
      on: [{ event: "task.opened", action: "act" }],
    };
    t.same(toWarnings(acting), {});
    t.match(toWarnings({ ...acting, connection: { holder: "requester", oauth2 } }), {
      "actions.act.schedule": /as no person/,
    });
    const lookup = { request: { url, capture: { lost: expr("response") } }, capture: { seen: expr("response") } };
    const events = [{ lookup, raise: { say: expr("seen") } }];
    t.same(Object.keys(toWarnings({ poll: { request: { url }, events } })), [
      "poll.events[0].lookup.request.capture.lost",
    ]);
  },
);

t.test("a schedule's request that reads what only tools and bindings have is warned of, field by field", async (t) => {
  const request = {
    url,
    query: { since: expr("connection"), at: expr("task.station") },
    body: { text: expr("inputs.text + target.thread"), of: expr("1 + 1") },
  };
  const schedule = { everyMinutes: 5 };
  const tools = { act: { action: "act", inputs: { text: { type: "string" } } } };
  t.same(toWarnings({ actions: { act: { request } }, tools }), {});
  const warned = toWarnings({ actions: { act: { request, schedule } }, tools });
  t.match(warned, {
    "actions.act.request.query.at": /task is not available there/,
    "actions.act.request.body.text": /(target|inputs) is not available there/,
  });
  t.equal(Object.keys(warned).length, 2);
});
