import t from "tap";
import { migrations } from "../../../actors/catalogue.js";
import { integrationSchema } from "../../../actors/integrations/definition.js";
import type { Entry } from "../../../storage/store.js";
import { expr } from "../../support/integration.js";
import { stepped } from "../../support/migrating.js";

t.test("integrations of an earlier release authenticate and answer deliveries as before", async (t) => {
  const step = migrations.find(({ title }) => title.startsWith("integrations say how deliveries"));
  if (step === undefined) throw new Error("there is no such step");
  const events = [{ raise: {} }];
  const verify = { hmac: { secret: "key", header: "x" } };
  const respond = { when: expr("true"), body: expr("body") };
  const blocks = [null, { events }, { events, verify }, { events, verify, respond }];
  const wanted = blocks.map((webhook) => integrationSchema.parse({ integration: "x", name: "X", webhook }));
  const before = wanted.map(({ webhook, ...fields }, index): Entry => {
    const { accepted: _accepted, ...block } = webhook ?? { accepted: 202 };
    const { token: _token, basic: _basic, ...ways } = webhook?.verify ?? { token: null, basic: null };
    const { methods: _methods, ...answer } = webhook?.respond ?? { methods: [] };
    const earlier = webhook && {
      ...block,
      verify: webhook.verify && ways,
      respond: webhook.respond && answer,
    };
    const value = { kind: "integration", id: `int_${index}`, version: 3, fields: { ...fields, webhook: earlier } };
    return { key: ["ws_1", "row", "resource", "integration", `int_${index}`], value };
  });
  const other: Entry = { key: ["ws_1", "row", "resource", "team", "t"], value: { kind: "team", id: "t", fields: {} } };
  const after = await stepped(step, [...before, other]);
  t.same(
    after.map(({ value }) => (value as { readonly fields: unknown }).fields),
    [...wanted, {}],
  );
  t.same(
    (await stepped(step, after)).map(({ value }) => value),
    after.map(({ value }) => value),
    "run twice it changes nothing",
  );
});
