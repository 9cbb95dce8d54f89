import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { readConfig, WrongSetting } from "../../../http/process/config.js";
import { loadOrCreateSecretsKey } from "../../../http/process/secrets-key.js";

const DAY_MS = 24 * 60 * 60 * 1_000;
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const { privateKey: otherCurve } = generateKeyPairSync("ec", { namedCurve: "P-384" });
const rsa = (modulusLength: number) => generateKeyPairSync("rsa", { modulusLength }).privateKey;
const appKey = rsa(2_048);
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();

t.test("without settings the service listens on this machine alone, over a folder beside it", async (t) => {
  t.match(readConfig({}), {
    host: "127.0.0.1",
    port: 8787,
    baseUrl: null,
    dataFolder: "./data",
    smtpUrl: null,
    outboundAllow: "",
    secretsKey: null,
    isSecretsKeyLost: false,
    signInDomains: null,
    hookSigningKey: null,
    metricsToken: null,
    rates: { perCredentialASecond: 500, perAddressASecond: 1_000, failuresAMinute: 300 },
    socketsPerHolder: 1_000,
    archives: { bytesPerWorkspace: 4_096 * 1024 ** 2 },
    codeHost: null,
    codeHostWebhookSecret: null,
    model: null,
    trustedProxies: "",
    retention: { work: 200 * DAY_MS, facts: 730 * DAY_MS, hooks: 200 * DAY_MS, changes: 730 * DAY_MS },
    transport: "uws",
    logLevel: "info",
  });
  t.same(readConfig({ PORT: "", BASE_URL: "" }), readConfig({}), "an empty setting is none");
});

t.test("settings are taken as they are written", async (t) => {
  const key = Buffer.alloc(32, 7);
  const config = readConfig({
    HOST: "0.0.0.0",
    PORT: "0",
    BASE_URL: "https://signalbox.example/",
    SMTP_URL: "smtps://user:pass@mail.example:465",
    OUTBOUND_ALLOW: "hooks.example, *.example.org, http://127.0.0.1:9000",
    SECRETS_KEY: key.toString("base64"),
    SIGN_IN_DOMAINS: "Example.com , example.org",
    HOOK_SIGNING_KEY: pem,
  });
  t.equal(config.baseUrl, "https://signalbox.example");
  t.same(config.signInDomains, ["example.com", "example.org"]);
  t.ok(config.secretsKey !== null && key.equals(config.secretsKey));
  t.ok(readConfig({ HOOK_SIGNING_KEY: JSON.stringify(privateKey.export({ format: "jwk" })) }).hookSigningKey);
});

t.test("how long ended things are stored is set in hours or days", async (t) => {
  const settings = {
    RETENTION_WORK: "1h",
    RETENTION_FACTS: "400d",
    RETENTION_HOOKS: "36h",
    RETENTION_CHANGES: "10000d",
  };
  const { retention } = readConfig(settings);
  t.same(retention, { work: DAY_MS / 24, facts: 400 * DAY_MS, hooks: 1.5 * DAY_MS, changes: 10_000 * DAY_MS });
});

/** The settings that a code host needs. */
const codeHost = {
  CODE_HOST_URL: "https://api.github.com",
  CODE_HOST_APP_ID: "29310",
  CODE_HOST_APP_KEY: appKey.export({ type: "pkcs1", format: "pem" }).toString(),
  CODE_HOST_CLIENT_ID: "Iv1.8a61f9b3a7aba766",
  CODE_HOST_CLIENT_SECRET: "canary",
};

t.test("the code host's sign-in address follows from the address of its API, or is set", async (t) => {
  for (const [api, web] of [
    ["https://api.github.com/", "https://github.com"],
    ["https://api.acme.ghe.com", "https://acme.ghe.com"],
    ["https://code.acme.example/api/v3", "https://code.acme.example"],
    ["http://127.0.0.1:9000/api/v3/", "http://127.0.0.1:9000"],
  ] as const) {
    const { codeHost: read } = readConfig({ ...codeHost, CODE_HOST_URL: api });
    t.same([read?.apiUrl, read?.webUrl], [api.replace(/\/$/, ""), web]);
  }
  const { codeHost: read } = readConfig({ ...codeHost, CODE_HOST_WEB_URL: "https://code.acme.example/forge/" });
  t.equal(read?.webUrl, "https://code.acme.example/forge");
});

t.test("the app's key is taken as PKCS1 or PKCS8, and with its line ends written out", async (t) => {
  const pkcs8 = appKey.export({ type: "pkcs8", format: "pem" }).toString();
  for (const key of [codeHost.CODE_HOST_APP_KEY, pkcs8, pkcs8.replaceAll("\n", "\\n")]) {
    t.equal(readConfig({ ...codeHost, CODE_HOST_APP_KEY: key }).codeHost?.appKey, key);
  }
});

t.test("of the code host's settings the one that is missing is named", async (t) => {
  for (const name of Object.keys(codeHost)) {
    const wanted = name === "CODE_HOST_URL" ? /^CODE_HOST_URL: must be set when/ : new RegExp(`^${name}: must be set`);
    t.throws(() => readConfig({ ...codeHost, [name]: "" }), { name: "WrongSetting", message: wanted });
  }
  const alone = { CODE_HOST_WEBHOOK_SECRET: "w".repeat(16) };
  t.throws(() => readConfig(alone), { name: "WrongSetting", message: /^CODE_HOST_URL: must be set/ });
});

t.test("the model's address is taken with or without the path of its requests", async (t) => {
  const named = { MODEL_NAME: "large" };
  for (const [address, url] of [
    ["https://models.example/v1", "https://models.example/v1"],
    ["http://127.0.0.1:9000/v1/", "http://127.0.0.1:9000/v1"],
    ["https://models.example/v1/chat/completions", "https://models.example/v1"],
    ["http://models", "http://models"],
  ] as const) {
    t.same(readConfig({ ...named, MODEL_URL: address }).model, { url, key: null, name: "large", prices: null });
  }
  const prices = { in: 2.5, out: 10, currency: "USD" };
  const whole = { ...named, MODEL_URL: "http://models", MODEL_KEY: "sk-1" };
  const read = (value: object) => readConfig({ ...whole, MODEL_PRICES: JSON.stringify(value) }).model;
  t.same(read(prices), { url: "http://models", key: "sk-1", name: "large", prices: { ...prices, models: {} } });
  const more = { ...prices, models: { small: { in: 0, out: 0.5 } } };
  t.same(read(more)?.prices, more);
});

t.test("of the model's settings the one that is missing is named", async (t) => {
  const address = { MODEL_URL: "http://models" };
  t.throws(() => readConfig(address), { name: "WrongSetting", message: /^MODEL_NAME: must be set when/ });
  for (const alone of [{ MODEL_NAME: "a" }, { MODEL_KEY: "a" }, { MODEL_PRICES: '{"in":1,"out":1,"currency":"EUR"}' }])
    t.throws(() => readConfig(alone), { name: "WrongSetting", message: /^MODEL_URL: must be set when/ });
});

t.test("an invalid setting is named in one line without its value", async (t) => {
  const wrong: readonly (readonly [string, string])[] = [
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["PORT", "80a"],
    ["PORT", "0x50"],
    ["RATE_PER_ADDRESS", "-1"],
    ["RATE_PER_CREDENTIAL", "a few"],
    ["RATE_OF_FAILURES", "1e3"],
    ["SOCKETS_PER_CREDENTIAL", "1.5"],
    ["TRUSTED_PROXIES", "10.0.0.0/33"],
    ["TRUSTED_PROXIES", "10.0.0.1, proxy.example"],
    ["BASE_URL", "signalbox.example"],
    ["BASE_URL", "ftp://signalbox.example"],
    ["BASE_URL", "https://signalbox.example/?a"],
    ["BASE_URL", "https://signalbox.example/path"],
    ["BASE_URL", "https://user:canary@signalbox.example"],
    ["SMTP_URL", "mail.example"],
    ["SMTP_URL", "https://canary@mail.example"],
    ["OUTBOUND_ALLOW", "hooks.example, not a host"],
    ["SECRETS_KEY", "canary"],
    ["SECRETS_KEY", `${"A".repeat(43)}!`],
    ["SIGN_IN_DOMAINS", "a@b"],
    ["HOOK_SIGNING_KEY", "canary"],
    ["HOOK_SIGNING_KEY", otherCurve.export({ type: "pkcs8", format: "pem" }).toString()],
    ["CODE_HOST_URL", "api.github.com"],
    ["CODE_HOST_URL", "https://canary@api.github.com"],
    ["CODE_HOST_URL", "https://api.github.com/?canary"],
    ["CODE_HOST_WEB_URL", "ssh://github.com"],
    ["CODE_HOST_APP_ID", "two words"],
    ["CODE_HOST_APP_KEY", "canary"],
    ["CODE_HOST_APP_KEY", pem],
    ["CODE_HOST_APP_KEY", rsa(1_024).export({ type: "pkcs8", format: "pem" }).toString()],
    ["CODE_HOST_CLIENT_ID", "two words"],
    ["CODE_HOST_CLIENT_SECRET", "canary canary"],
    ["CODE_HOST_WEBHOOK_SECRET", "canary"],
    ["MODEL_URL", "models.example"],
    ["MODEL_URL", "ftp://canary.example"],
    ["MODEL_URL", "https://canary:canary@models.example"],
    ["MODEL_URL", "https://models.example/?canary"],
    ["MODEL_KEY", "canary canary"],
    ["MODEL_NAME", "a canary\nand more"],
    ["MODEL_NAME", "n".repeat(256)],
    ["MODEL_PRICES", "canary"],
    ["MODEL_PRICES", "2.5"],
    ["MODEL_PRICES", '{"in": 1, "out": -1, "currency": "USD"}'],
    ["MODEL_PRICES", '{"in": 1, "currency": "USD"}'],
    ["MODEL_PRICES", '{"in": 1, "out": 1, "currency": "canary"}'],
    ["MODEL_PRICES", '{"in": 1, "out": 1, "currency": "USD", "canary": 1}'],
    ["MODEL_PRICES", '{"in": 1, "out": 1, "currency": "USD", "models": {"canary": {"in": 1}}}'],
    ["LEASE_SECONDS", "0"],
    ...["0", "0d", "-1d", "200", "1.5d", "d", "10001d", "240001h", "2w", " 1d", "01d", "1e3h"].flatMap((value) => [
      ["RETENTION_WORK", value] as const,
      ["RETENTION_FACTS", value] as const,
      ["RETENTION_HOOKS", value] as const,
      ["RETENTION_CHANGES", value] as const,
    ]),
    ["METRICS_TOKEN", "canary"],
    ["TRANSPORT", "canary"],
    ["LOG_LEVEL", "canary"],
  ];
  for (const [name, value] of wrong) {
    t.throws(
      () => readConfig({ [name]: value }),
      { name: "WrongSetting", message: new RegExp(`^${name}: [^\\n]+$`) },
      name,
    );
    try {
      readConfig({ [name]: value });
    } catch (error) {
      t.ok(error instanceof WrongSetting && !error.message.includes("canary"), `${name} keeps its value to itself`);
    }
  }
});

t.test("the secrets key is made once, for its owner alone, and kept", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-key-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const made = loadOrCreateSecretsKey(folder, (count) => new Uint8Array(count).fill(9));
  t.equal(made.length, 32);
  t.equal(statSync(join(folder, "secrets.key")).mode & 0o777, 0o600);
  const again = loadOrCreateSecretsKey(folder, () => {
    throw new Error("no second key is made");
  });
  t.ok(Buffer.from(made).equals(again));
  t.equal(readFileSync(join(folder, "secrets.key"), "utf8").trim(), Buffer.from(made).toString("base64"));
  writeFileSync(join(folder, "secrets.key"), "short");
  t.throws(() => loadOrCreateSecretsKey(folder, () => new Uint8Array(32)), /secrets\.key does not contain a key/);
});
