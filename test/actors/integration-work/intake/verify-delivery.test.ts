import { createHmac, createSign, generateKeyPairSync, type KeyObject, sign as signBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import t from "tap";
import { ReceivedDelivery } from "../../../../actors/integration-work/intake/received-delivery.js";
import { findFault, toTimeMs } from "../../../../actors/integration-work/intake/verify-delivery.js";
import { integrationSchema } from "../../../../actors/integrations/definition.js";
import { checkIntegration } from "../../../../actors/integrations/integration-rules.js";
import { expr } from "../../../support/integration.js";

const NOW = Date.parse("2026-01-01T00:00:00.000Z");
const SECRET = "a key that both sides have";

function toScheme(verify: unknown) {
  const events = [{ raise: {} }];
  const fields = integrationSchema.parse({ integration: "x", name: "X", webhook: { verify, events } });
  return fields.webhook?.verify ?? null;
}

interface Asked {
  readonly verify: unknown;
  readonly body: string | Uint8Array;
  readonly headers: Record<string, string>;
  readonly secret?: string | null;
}

function lookUpFault({ verify, body, headers, secret = SECRET }: Asked): string | null {
  const received = new ReceivedDelivery(Buffer.from(body), new Map(Object.entries(headers)));
  return findFault(received, { verify: verify === null ? null : toScheme(verify), secret, nowMs: NOW });
}

const verified = (asked: Asked): boolean => lookUpFault(asked) === null;

t.test("what is wrong with a delivery is told apart", async (t) => {
  const sign = (key: string) => createHmac("sha256", key).update("b").digest("hex");
  const verify = (at: number) => ({
    hmac: { secret: "key", header: "x-signature", freshness: { at: expr(`${at}`) } },
  });
  const unreadable = { hmac: { secret: "key", header: "x-signature", freshness: { at: expr("body.at") } } };
  const asked = (headers: Record<string, string>): Asked => ({ verify: verify(NOW), body: "b", headers });
  const right = { "x-signature": sign(SECRET) };
  t.equal(lookUpFault(asked(right)), null);
  t.equal(lookUpFault({ ...asked(right), verify: null }), "no-verify");
  t.equal(lookUpFault(asked({})), "no-signature");
  t.equal(lookUpFault(asked({ "x-signature": " " })), "no-signature");
  t.equal(lookUpFault(asked({ "x-signature": sign("another key") })), "wrong-signature");
  t.equal(lookUpFault({ ...asked({ "x-signature": sign("") }), secret: null }), "no-secret");
  t.equal(lookUpFault({ ...asked(right), verify: verify(NOW - 3_600_000) }), "not-fresh");
  t.equal(lookUpFault({ ...asked(right), verify: unreadable }), "unreadable-time");
});

t.test("an HMAC of each algorithm and encoding is verified, whatever the case of its header", async (t) => {
  for (const algorithm of ["sha1", "sha256", "sha512"] as const) {
    for (const encoding of ["hex", "base64"] as const) {
      const signature = createHmac(algorithm, SECRET).update("the body").digest(encoding);
      const verify = { hmac: { secret: "key", header: "X-Hub-Signature", algorithm, encoding, prefix: "s=" } };
      const by = (given: string) => verified({ verify, body: "the body", headers: { "x-hub-signature": given } });
      t.ok(by(`s=${signature}`), `${algorithm} ${encoding}`);
      t.ok(by(`s=AAAA s=${signature}`), "one of several, parted by blanks");
      t.ok(by(`t=1,s=${signature},v0=00`), "one of several, parted by commas");
      for (const wrong of ["", "s=", signature, `s=${signature.slice(0, -4)}`, `s=${signature}00`, "s=%%%%"]) {
        t.notOk(by(wrong), wrong);
      }
    }
  }
  const headers = { "x-signature": createHmac("sha256", "").update("b").digest("hex") };
  t.notOk(verified({ verify: { hmac: { secret: "key", header: "x-signature" } }, body: "b", headers, secret: null }));
  t.notOk(verified({ verify: null, body: "b", headers }), "without a scheme nothing is");
});

t.test("sixteen signatures of a header are compared, and of characters digits alone are digits", async (t) => {
  const signature = createHmac("sha256", SECRET).update("b").digest("hex");
  const verify = { hmac: { secret: "key", header: "x-signature" } };
  const by = (given: string) => verified({ verify, body: "b", headers: { "x-signature": given } });
  const after = (others: number, between: string) =>
    [...Array.from({ length: others }, () => "00"), signature].join(between);
  for (const between of [",", " ", ", "]) {
    t.ok(by(after(15, between)), `the last of 16 parted by "${between}"`);
    t.notOk(by(after(16, between)), `the last of 17 parted by "${between}"`);
  }
  // Latin-1 encoding cuts each of these characters to its lowest byte, which is the original digit.
  const wide = [...signature].map((digit) => String.fromCharCode(digit.charCodeAt(0) + 0x100)).join("");
  t.notOk(by(wide));
  t.notOk(by(signature.slice(0, 4) + wide.slice(4, -4) + signature.slice(-4)));
});

t.test("a sender of Standard Webhooks is verified, fresh, and with the bytes of its body as they came", async (t) => {
  const secret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
  const signed = expr('headers["webhook-id"] + "." + headers["webhook-timestamp"] + "." + raw');
  const at = expr('int(headers["webhook-timestamp"])');
  const verify = {
    hmac: { secret: "key", header: "webhook-signature", encoding: "base64", prefix: "v1,", signed, freshness: { at } },
  };
  const asked = (body: string, secondsAgo = 0): Asked => {
    const time = new Date(NOW - secondsAgo * 1_000);
    const signature = new Webhook(secret).sign("msg_1", time, body);
    const timestamp = String(Math.floor(time.getTime() / 1_000));
    const headers = { "webhook-id": "msg_1", "webhook-timestamp": timestamp, "webhook-signature": signature };
    return { verify, body, headers, secret };
  };
  t.ok(verified(asked('{"a":1}')));
  t.ok(verified(asked("x".repeat(5 * 1024 * 1024))), "five megabytes cost the expression nothing");
  t.ok(verified(asked("{}", 300)));
  t.notOk(verified(asked("{}", 301)), "too old");
  t.notOk(verified(asked("{}", -301)), "too far ahead");
  t.notOk(verified({ ...asked("{}"), body: "{ }" }));
  const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
  const content = Buffer.concat([Buffer.from("msg_1.1."), bytes]);
  const plain = { hmac: { secret: "key", header: "x-s", signed } };
  const headers = { "webhook-id": "msg_1", "webhook-timestamp": "1", "x-s": "" };
  headers["x-s"] = createHmac("sha256", SECRET).update(content).digest("hex");
  t.ok(verified({ verify: plain, body: bytes, headers }), "bytes that are no text");
});

t.test("the body of an unknown sender is not read", async (t) => {
  const freshness = { at: expr("body.at") };
  const verify = toScheme({ hmac: { secret: "key", header: "x-s", freshness } });
  const body = Buffer.from(JSON.stringify({ at: NOW }));
  const asked = (signature: string) => {
    const received = new ReceivedDelivery(body, new Map([["x-s", signature]]));
    const read: string[] = [];
    const namesFor = received.namesFor.bind(received);
    received.namesFor = (field) => {
      read.push(field);
      return namesFor(field);
    };
    return { isTaken: findFault(received, { verify, secret: SECRET, nowMs: NOW }) === null, read };
  };
  t.same(asked("00"), { isTaken: false, read: [] });
  const signature = createHmac("sha256", SECRET).update(body).digest("hex");
  t.same(asked(signature), { isTaken: true, read: [freshness.at] });
});

t.test("a long header of blanks takes no longer than it is long", async (t) => {
  const verify = { hmac: { secret: "key", header: "x-s", prefix: "v1=" } };
  const signature = createHmac("sha256", SECRET).update("b").digest("hex");
  const long = " ".repeat(1024 * 1024);
  // A verification in quadratic time would not end.
  t.notOk(verified({ verify, body: "b", headers: { "x-s": `a${long}b` } }));
  t.ok(verified({ verify, body: "b", headers: { "x-s": `t=1,${long}v1=${signature}${long},x` } }));
});

t.test("what is signed may be any text of the body; what has no value is refused", async (t) => {
  const verify = { hmac: { secret: "key", header: "x-s", signed: expr('body.id + ":" + string(size(raw))') } };
  const header = createHmac("sha256", SECRET).update("i7:11").digest("hex");
  t.ok(verified({ verify, body: '{"id":"i7"}', headers: { "x-s": header } }));
  t.notOk(verified({ verify, body: '{"no":"id"}', headers: { "x-s": header } }));
  const long = { hmac: { ...verify.hmac, signed: expr("raw.replace('a', 'b')") } };
  t.notOk(verified({ verify: long, body: "a".repeat(3_000_000), headers: { "x-s": header } }), "too expensive");
});

t.test("a key pair of each algorithm is verified, and no other key", async (t) => {
  const pem = (key: KeyObject) => key.export({ type: "spki", format: "pem" }).toString();
  const ed = generateKeyPairSync("ed25519");
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const other = generateKeyPairSync("ec", { namedCurve: "P-384" });
  const body = Buffer.from("the body");
  const p1363 = signBytes("sha256", body, { key: ec.privateKey, dsaEncoding: "ieee-p1363" });
  const cases = [
    ["ed25519", ed.publicKey, signBytes(null, body, ed.privateKey), true],
    ["es256", ec.publicKey, createSign("sha256").update(body).sign(ec.privateKey), true],
    ["es256", ec.publicKey, p1363, true],
    ["rs256", rsa.publicKey, createSign("sha256").update(body).sign(rsa.privateKey), true],
    ["rs256", ec.publicKey, createSign("sha256").update(body).sign(ec.privateKey), false],
    ["es256", other.publicKey, createSign("sha256").update(body).sign(other.privateKey), false],
    ["es256", ec.publicKey, Buffer.alloc(64), false],
    ["ed25519", ed.publicKey, Buffer.alloc(0), false],
  ] as const;
  for (const [algorithm, key, signature, isGood] of cases) {
    const verify = { asymmetric: { key: pem(key), algorithm, header: "x-s", encoding: "base64" } };
    const headers = { "x-s": signature.toString("base64") };
    t.equal(verified({ verify, body, headers }), isGood, algorithm);
    t.notOk(verified({ verify, body: "another body", headers }), algorithm);
  }
  const verify = { asymmetric: { key: "no key", algorithm: "ed25519", header: "x-s" } };
  t.notOk(verified({ verify, body, headers: { "x-s": "00" } }));
});

t.test("times are seconds, milliseconds or RFC 3339", async (t) => {
  const seconds = NOW / 1_000;
  for (const value of [seconds, String(seconds), NOW, String(NOW), "2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00"])
    t.equal(toTimeMs(value), NOW, String(value));
  for (const value of [null, "", "soon", "2026-01-01", {}, true, "-5", "2026-13-41T00:00:00Z"])
    t.equal(toTimeMs(value), null, String(value));
});

t.test("a token in a header is the secret itself, behind its prefix, and nothing else", async (t) => {
  const fault = (header: Record<string, string>, more: object = {}, secret: string | null = SECRET) =>
    lookUpFault({
      verify: { token: { secret: "key", header: "X-Token", ...more } },
      body: "b",
      headers: header,
      secret,
    });
  t.equal(fault({ "x-token": SECRET }), null);
  t.equal(fault({ "x-token": ` ${SECRET} ` }), null);
  t.equal(fault({ "x-token": `Bearer ${SECRET}` }, { prefix: "Bearer " }), null);
  const wrong: readonly [Record<string, string>, object, string][] = [
    [{}, {}, "no-credential"],
    [{ "x-token": " " }, {}, "no-credential"],
    [{ "x-other": SECRET }, {}, "no-credential"],
    [{ "x-token": SECRET.slice(1) }, {}, "wrong-credential"],
    [{ "x-token": `${SECRET}x` }, {}, "wrong-credential"],
    [{ "x-token": `${SECRET}, ${SECRET}` }, {}, "wrong-credential"],
    [{ "x-token": SECRET.toUpperCase() }, {}, "wrong-credential"],
    [{ "x-token": SECRET }, { prefix: "Bearer " }, "unreadable-credential"],
    [{ "x-token": "Bearer " }, { prefix: "Bearer " }, "unreadable-credential"],
  ];
  for (const [headers, more, why] of wrong) t.equal(fault(headers, more), why, JSON.stringify([headers, more]));
  for (const scheme of ["bearer", "BEARER"]) {
    t.equal(fault({ "x-token": `${scheme} ${SECRET}` }, { prefix: "Bearer " }), null, scheme);
  }
  t.equal(fault({ "x-token": SECRET }, {}, `${SECRET}\n`), null, "a pasted line end is no part of a token");
  t.equal(fault({ "x-token": "" }, {}, " "), "no-credential");
  t.equal(fault({ "x-token": "x".repeat(16_384) }), "wrong-credential");
  t.equal(fault({ "x-token": "" }, {}, null), "no-credential");
  t.equal(fault({ "x-token": "x" }, {}, null), "no-secret", "without the secret nothing is right");
});

t.test("HTTP Basic is the user name and the secret, in any case of its scheme", async (t) => {
  const basic = (text: string) => Buffer.from(text).toString("base64");
  const fault = (authorization: string | null, secret: string | null = SECRET) =>
    lookUpFault({
      verify: { basic: { username: "hook-é", secret: "key" } },
      body: "b",
      secret,
      headers: authorization === null ? {} : { authorization },
    });
  const right = basic(`hook-é:${SECRET}`);
  for (const one of [`Basic ${right}`, `basic  ${right}`, `BASIC ${right.replace(/=+$/, "")}`])
    t.equal(fault(one), null);
  t.equal(fault(`Basic ${basic("hook-é:a:b")}`, "a:b"), null, "a password may hold colons");
  for (const [given, why] of [
    [null, "no-credential"],
    [`Bearer ${right}`, "unreadable-credential"],
    ["Basic", "unreadable-credential"],
    ["Basic %%%", "unreadable-credential"],
    [`Basic ${right} ${right}`, "unreadable-credential"],
    [`Basic ${basic(`hook:${SECRET}`)}`, "wrong-credential"],
    [`Basic ${basic("hook-é:")}`, "wrong-credential"],
    [`Basic ${basic(`:${SECRET}`)}`, "wrong-credential"],
    [`Basic ${basic(SECRET)}`, "wrong-credential"],
  ] as const) {
    t.equal(fault(given), why, String(given));
  }
  t.equal(fault(`Basic ${basic("hook-é:")}`, null), "no-secret");
});

t.test("a credential that is not ASCII is accepted as UTF-8 and as Latin-1, and no other text equals it", async (t) => {
  const byToken = (text: string, secret: string) =>
    verified({
      verify: { token: { secret: "key", header: "x-token" } },
      body: "",
      headers: { "x-token": text },
      secret,
    });
  const byBasic = (bytes: Buffer, secret: string) =>
    verified({
      verify: { basic: { username: "u", secret: "key" } },
      body: "",
      secret,
      headers: { authorization: `Basic ${bytes.toString("base64")}` },
    });
  t.ok(byBasic(Buffer.from("u:p\u00e4ss"), "p\u00e4ss"));
  t.ok(byBasic(Buffer.from("u:p\u00e4ss", "latin1"), "p\u00e4ss"));
  t.ok(byToken("p\u00e4ss", "p\u00e4ss"));
  t.ok(byToken(Buffer.from("p\u00e4ss").toString("latin1"), "p\u00e4ss"), "UTF-8 that a transport reads as Latin-1");
  // Cut to its lowest byte, the secret's first letter is an A.
  t.notOk(byBasic(Buffer.from("u:Ass"), "\u0141ss"));
  t.notOk(byToken("Ass", "\u0141ss"));
  t.notOk(byToken("\u0141ss", "Ass"));
});

t.test("a webhook is verified in exactly one way", async (t) => {
  const ways = {
    hmac: { secret: "key", header: "x" },
    asymmetric: { key: "k", algorithm: "ed25519", header: "x" },
    token: { secret: "key", header: "x" },
    basic: { username: "u", secret: "key" },
  };
  const errors = (verify: object) => {
    const events = [{ raise: {} }];
    const fields = integrationSchema.parse({ integration: "x", name: "X", webhook: { verify, events } });
    return checkIntegration(fields).map(({ path, message }) => `${path}: ${message}`);
  };
  for (const [name, way] of Object.entries(ways)) t.same(errors({ [name]: way }), [], name);
  const wanted = ["webhook.verify: must be one of hmac, asymmetric, token or basic"];
  t.same(errors({}), wanted);
  t.same(errors({ token: ways.token, basic: ways.basic }), wanted);
  t.same(errors(ways), wanted);
  for (const username of ["", "a:b", "a\u0000", "x".repeat(256)]) {
    t.notOk(integrationSchema.shape.webhook.safeParse({ verify: { basic: { username, secret: "k" } } }).success);
  }
});
