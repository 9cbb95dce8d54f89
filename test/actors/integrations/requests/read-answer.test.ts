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
    success: true,
    output: null,
    captures: '{"ok":200,"gone":null}',
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

t.test(
  "halves of pairs reach no output, cursor or response, and a mark that holds one is left out and named",
  async (t) => {
    const body = '{"id":"7 \\ud83d","text":"a \\udc00","nul":"x\\u0000","long":"'.concat("l".repeat(300), '"}');
    const request = { capture: { id: expr("response.id") } };
    const mark = {
      thread: { value: expr("capture.id") },
      nul: { value: expr("response.nul") },
      long: { value: expr("response.long") },
      blank: { value: expr("' '") },
      whole: { value: expr("' ok '") },
    };
    const on = [{ event: "task.opened", action: "act", mark }];
    const tools = { look: { action: "act", output: expr("capture.id + response.text") }, all: { action: "act" } };
    const { run } = requesting(integrationRows(acting(request, { on, tools })), () => ({ body }));
    const bound = await run({ after: { kind: "binding", index: 0 } });
    t.same(bound.marks, { whole: "ok" });
    t.match(
      bound.unread,
      /^`mark\.thread` has no value: it contains half of a surrogate pair; `mark\.nul` .* U\+0000; `mark\.long` .* 255.*; `mark\.blank` .* it is blank/,
    );
    t.match(bound.response, /"7 \ufffd","text":"a \ufffd"/);
    const told = await run({ after: { kind: "tool", name: "look" } });
    t.equal(told.output, JSON.stringify("7 \ufffda \ufffd"));
    const whole = await run({ after: { kind: "tool", name: "all" } });
    t.match(JSON.parse(whole.output ?? ""), { id: "7 \ufffd", text: "a \ufffd" });
  },
);
