import t from "tap";
import {
  checkApiVersion,
  clientName,
  idempotencyKey,
  ifMatchVersion,
  optionalIdempotencyKey,
} from "../../../http/transport/headers.js";

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
