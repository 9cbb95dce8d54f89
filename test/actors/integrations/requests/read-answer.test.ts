import t from "tap";
import { expr } from "../../../support/integration.js";
import { acting, integrationRows, requesting } from "../../../support/integration-rows.js";

t.test("it is told what of a success has no value, and why `expect.success` does not hold", async (t) => {
  const request = { capture: { ok: expr("status"), gone: expr("response.gone") } };
  const tools = { look: { description: "Looks.", action: "act", output: expr("response.none") } };
  const rows = integrationRows(acting(request, { tools }));
  const { run } = requesting(rows, () => ({ body: "{}" }));
  const after = { kind: "tool", name: "look" } as const;
  t.match(await run({ after }), {
    ...{ success: true, output: null, captures: '{"ok":200,"gone":null}' },
    unread: /^`capture\.gone` has no value: .*gone; `output` has no value: .*none$/,
  });
  const unmet = requesting(integrationRows(acting({ expect: { success: expr("response.ok") } })), () => ({
    body: "{}",
  }));
  t.match(await unmet.run(), { code: "unsuccessful", reason: /expect\.success has no value: / });
});

t.test("what is told of an expression has a bound, whatever the answer holds", async (t) => {
  const body = JSON.stringify({ key: "k".repeat(200_000) });
  const request = { expect: { success: expr("response[response.key] == 1") } };
  const { run } = requesting(integrationRows(acting(request)), () => ({ body }));
  const { reason } = await run();
  t.match(reason, /expect\.success has no value: .*kkk/);
  t.ok((reason?.length ?? 0) < 1_000);
});
