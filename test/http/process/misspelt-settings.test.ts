import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { findMisspelt, listUnknown, otherNames, settingNames } from "../../../http/process/misspelt-settings.js";

const meantBy = (name: string) => findMisspelt({ [name]: "x" })[0]?.meant;

t.test("a name that is like a setting's is told of with that one", async (t) => {
  const cases: Readonly<Record<string, string>> = {
    OUTBOUND_ALOW: "OUTBOUND_ALLOW",
    OUTBUOND_ALLOW: "OUTBOUND_ALLOW",
    OUTBOUND_ALLOWED: "OUTBOUND_ALLOW",
    OUTBOUND_ALLOW_LIST: "OUTBOUND_ALLOW",
    outbound_allow: "OUTBOUND_ALLOW",
    "OUTBOUND-ALLOW": "OUTBOUND_ALLOW",
    SIGNALBOX_OUTBOUND_ALLOW: "OUTBOUND_ALLOW",
    SIGNALBOX_DATADIR: "DATA_DIR",
    BASEURL: "BASE_URL",
    BASE_URI: "BASE_URL",
    PROT: "PORT",
    METRICS_TOKEN_FILE: "METRICS_TOKEN",
    SETTING_FILE: "SETTINGS_FILE",
    CODE_HOST_APPKEY: "CODE_HOST_APP_KEY",
    RETENTION_WORKS: "RETENTION_WORK",
    SIGNALBOX_POOL_TOKN: "SIGNALBOX_POOL_TOKEN",
  };
  for (const [name, meant] of Object.entries(cases)) t.equal(meantBy(name), meant, name);
  t.equal(meantBy("SIGNALBOX_COLOUR"), null, "nothing else reads a name with the product's");
});

t.test("every setting of the service is told of when it lacks its last letter", async (t) => {
  const missed = settingNames.filter((name) => meantBy(name.slice(0, -1)) !== name);
  // `meantBy` finds the setting of every shortened name: each name is long enough, and no shortened name is another
  // setting.
  t.same(missed, []);
});

t.test("what other programs read is passed over, and so are settings and what is empty", async (t) => {
  const others = [
    ...["HOME", "HOSTNAME", "PATH", "PWD", "SHELL", "USER", "TERM", "LANG", "TZ", "TMPDIR", "SHLVL", "LOGNAME", "MAIL"],
    ...["NODE_OPTIONS", "NODE_ENV", "NODE_COMPILE_CACHE", "DEBUG", "CI", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"],
    ...[
      "DATABASE_URL",
      "REDIS_URL",
      "AMQP_URL",
      "AWS_REGION",
      "SSL_CERT_FILE",
      "KUBERNETES_PORT",
      "KUBERNETES_SERVICE_HOST",
    ],
    ...["GITHUB_TOKEN", "OPENAI_API_KEY", "OLDPWD", "EDITOR", "COLORTERM", "XDG_DATA_DIRS", "npm_config_port"],
  ];
  t.same(findMisspelt(Object.fromEntries(others.map((name) => [name, "x"]))), []);
  t.same(findMisspelt(Object.fromEntries([...settingNames, ...otherNames].map((name) => [name, "x"]))), []);
  t.same(findMisspelt({ OUTBOUND_ALOW: "", OUTBOUND_ALLO: undefined }), []);
  t.same(listUnknown({ COLOUR: "red", PORT: "1" }), [{ name: "COLOUR", meant: null }]);
});

t.test("the list has every name that the product's programs read or give", async (t) => {
  const files = ["actors", "http"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(folder, name)),
  );
  const read = files.flatMap((file) => readFileSync(file, "utf8").match(/\bSIGNALBOX_[A-Z_]*[A-Z]\b/g) ?? []);
  t.ok(read.length > 20);
  t.same(
    [...new Set(read)].filter((name) => !otherNames.includes(name)),
    [],
  );
});
