import t from "tap";
import { evaluateText } from "../../../../actors/expressions/templates.js";
import { ReceivedDelivery } from "../../../../actors/integration-work/intake/received-delivery.js";
import { readHeader } from "../../../../actors/integration-work/intake/take-delivery.js";
import { expr } from "../../../support/integration.js";

const headers = new Map([
  ["x-delivery", "d1"],
  ["x-empty", ""],
  ["x-half", expr("headers")],
  ["__proto__", "p1"],
]);

t.test("a field that reads one header has its value, as its expression has", async (t) => {
  const received = new ReceivedDelivery(Buffer.from("{}"), headers);
  const names = ["x-delivery", "x-empty", "x-half", "x-none", "X-Delivery", "__proto__", "constructor", "toString"];
  for (const name of names) {
    for (const source of [`headers["${name}"]`, `headers['${name}']`, `(headers["${name}"])`]) {
      const field = ` ${expr(source)} `;
      const outcome = evaluateText(field, received.namesFor(field));
      t.equal(readHeader(field, headers), "error" in outcome ? "" : outcome.value, source);
      t.equal(readHeader(field, headers), readHeader(field, headers), "read once more");
    }
  }
});

t.test("any other field is left to its expression", async (t) => {
  const others = [
    ...['headers["x-delivery"] + "1"', 'headers["x-" + "delivery"]', 'body["x-delivery"]', "headers[0]", "headers"],
    ...['headers["x-delivery"]["a"]', 'headers["', "headers.delivery"],
  ];
  for (const source of others) t.equal(readHeader(expr(source), headers), null, source);
  for (const field of ["x-delivery", "", `a${expr('headers["x-delivery"]')}`, "${{"])
    t.equal(readHeader(field, headers), null, field);
});

t.test("many fields are read, each as it is", async (t) => {
  for (let n = 0; n < 500; n++) t.equal(readHeader(expr(`headers["h${n}"]`), new Map([[`h${n}`, `v${n}`]])), `v${n}`);
});
