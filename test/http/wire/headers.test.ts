import t from "tap";
import {
  assertSendable,
  checkApiVersion,
  clientName,
  commonHeaders,
  headerLines,
  idempotencyKey,
  ifMatchVersion,
  optionalIdempotencyKey,
} from "../../../http/wire/headers.js";

t.test("the client is the provider with its version, the web app, or unknown", async (t) => {
  t.equal(clientName("iac-provider/1.2.0"), "iac-provider/1.2.0");
  t.equal(clientName("web"), "web");
  for (const other of [
    undefined,
    "",
    "Web",
    "iac-provider",
    "iac-provider/",
    "iac-provider/1 2",
    "curl/8",
    "web, web",
  ]) {
    t.equal(clientName(other), "unknown", String(other));
  }
});

t.test("If-Match is one strong entity tag that holds a version", async (t) => {
  t.equal(ifMatchVersion('"3"'), 3);
  t.equal(ifMatchVersion(' "3" '), 3);
  t.match(ifMatchVersion(undefined), { refused: "precondition-required" });
  for (const bad of ["", "3", 'W/"3"', "*", '"3", "4"', '"x"', '"-1"', '"03"', '"3', '"12345678901234567"']) {
    t.match(ifMatchVersion(bad), { refused: "malformed-if-match" }, bad);
  }
});

t.test("an idempotency key has 1 to 255 visible characters", async (t) => {
  t.equal(idempotencyKey("a"), "a");
  t.equal(idempotencyKey("!".repeat(255)), "!".repeat(255));
  for (const none of [undefined, ""]) t.match(idempotencyKey(none), { refused: "idempotency-key-required" });
  for (const bad of ["a b", "\u00e9", "a".repeat(256), "\t"])
    t.match(idempotencyKey(bad), { refused: "bad-request" }, bad);
});

t.test("an optional idempotency key is absent, or well-formed", async (t) => {
  t.equal(optionalIdempotencyKey(undefined), null);
  t.equal(optionalIdempotencyKey("a"), "a");
  for (const bad of ["", "a b", "\u00e9", "a".repeat(256), "\t"])
    t.match(optionalIdempotencyKey(bad), { refused: "bad-request" }, bad);
});

t.test("only the version that is served may be named", async (t) => {
  t.equal(checkApiVersion(undefined), null);
  t.equal(checkApiVersion("2026-09-23"), null);
  for (const other of ["", "2026-09-24", "1", "2026-09-23, 2026-09-23"]) {
    t.match(checkApiVersion(other), { refused: "unsupported-api-version" });
  }
});

t.test("the lines of an answer's headers say what its record says, and its own replace the common ones", async (t) => {
  const owns: readonly Record<string, string>[] = [
    {},
    { etag: '"3"', "content-type": "text/plain" },
    { "content-security-policy": "none" },
  ];
  for (const own of owns) {
    const lines = headerLines(own).split("\r\n").slice(1).concat("x-request-id: req_1");
    const all = Object.entries(commonHeaders("req_1", own)).map(([name, value]) => `${name}: ${value}`);
    t.same(lines.sort(), all.sort());
  }
});

t.test("a header that would end its line is not sent", async (t) => {
  for (const value of ["a\r\nset-cookie: b", "a\nb", "a\rb", "a\0"]) {
    t.throws(
      () => assertSendable({ location: value }),
      /the header location contains characters/,
      JSON.stringify(value),
    );
  }
  t.doesNotThrow(() => assertSendable({ etag: '"3"', location: "/a?b=c" }));
});
