import t from "tap";
import { recordRequest } from "../../../../actors/hooks/delivery/recorded-request.js";

const signing = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

function record(of: { url?: string; body?: string; headers?: Record<string, string>; event?: unknown }) {
  const { url = "https://example.com/in", body = "{}", headers = {}, event = {} } = of;
  return recordRequest({ url: new URL(url), body, ownHeaders: headers, secrets: [signing], event });
}

t.test("an address is shown without its credentials, its fragment and the values of its query", async (t) => {
  const shown = (url: string, event?: unknown) => record({ url, event }).url;
  t.equal(shown("https://example.com/in/a%20b"), "https://example.com/in/a%20b");
  t.equal(shown("https://bob:pass-word@example.com:8443/in#part"), "https://example.com:8443/in");
  t.equal(shown("https://example.com/in?token=s3cret&x="), "https://example.com/in?token=***&***");
  t.equal(shown("https://example.com/in?s3cret"), "https://example.com/in?***");
  t.equal(shown("https://example.com/s3cret/in?token=s3cret"), "https://example.com/***/in?token=***");
  const event = { task: { id: "task_1" } };
  t.equal(shown("https://example.com/in?task=task_1&key=k1", event), "https://example.com/in?task=task_1&key=***");
});

t.test("a body shows no secret of the signature, the headers or the address, in any encoding", async (t) => {
  const url = "https://bob:pa%2Fss@example.com/in?key=query-key&a=a%20b%2Bc";
  const basic = Buffer.from("user:basic-pass").toString("base64");
  const headers = {
    "x-api-key": "api-key",
    "x-basic": `Basic ${basic}`,
    "x-bearer": "Bearer bearer-token",
    cookie: "session=cookie-value; other=second-value",
    accept: "application/json",
  };
  const secrets = ["query-key", "a b+c", "pa/ss", "api-key", "basic-pass", basic, "bearer-token", "cookie-value"];
  secrets.push("second-value", signing, signing.slice("whsec_".length));
  const forms = (secret: string) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString("base64"),
    Buffer.from(`x:${secret}`).toString("base64"),
    JSON.stringify(`${secret}"`).slice(1, -1),
  ];
  const all = secrets.flatMap(forms);
  const { requestBody } = record({ url, headers, body: JSON.stringify({ all, accept: "application/json" }) });
  t.same(
    secrets.filter((secret) => requestBody.includes(secret)),
    [],
  );
  t.match(requestBody, '"accept":"application/json"', "what is no secret stays");
  const callback = `ws_${"0".repeat(26)}.occ_${"1".repeat(26)}-${"2".repeat(8)}.1795922618996.abc_-DEF`;
  t.equal(record({ body: `{"echoed":"${callback}"}` }).requestBody, '{"echoed":"***"}');
});

t.test("a body shows no word of credentials after a scheme", async (t) => {
  const rows: readonly (readonly [value: string, secrets: readonly string[]])[] = [
    ["Key  first-part second-part", ["first-part", "second-part"]],
    ["Key first-part  ", ["first-part"]],
    ["AWS4 Credential=key-id, Signature=signed-part, third-part", ["key-id", "signed-part", "third-part"]],
    [`Basic  ${Buffer.from("user:basic-pass").toString("base64")} more`, ["basic-pass"]],
  ];
  for (const [authorization, secrets] of rows) {
    const { requestBody } = record({ headers: { authorization }, body: `echo ${secrets.join(" and ")}` });
    t.equal(requestBody, `echo ${secrets.map(() => "***").join(" and ")}`, authorization);
  }
});

t.test("values of the event stay, and a body is cut after its secrets are masked", async (t) => {
  const event = { task: { id: "task_1" } };
  const headers = { "x-task": "task_1", "x-key": "api-key" };
  t.equal(record({ headers, event, body: "task_1 api-key" }).requestBody, "task_1 ***");
  const before = "ä".repeat(8_190);
  const { requestBody } = record({ headers, body: `${before}api-key and more` });
  t.equal(requestBody, `${before}*** `, "16 KiB, at a character");
  t.equal(Buffer.byteLength(requestBody), 16 * 1024);
  t.equal(record({ url: `https://example.com/${"a".repeat(9_000)}` }).url.length, 4 * 1024);
});
