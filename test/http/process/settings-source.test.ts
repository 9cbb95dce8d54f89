import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { readSettingsFile, SettingsSource, withSettingsFile } from "../../../http/process/settings-source.js";

/** Reads settings from an environment and a file; records the log and the allow-list. */
function arrange(t: Test, file: string, environment: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-settings-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "settings");
  writeFileSync(path, file);
  const logged: string[] = [];
  const note = (message: string) => void logged.push(message);
  const log = { info: note, warn: note, error: note };
  const source = new SettingsSource({ SETTINGS_FILE: path, ...environment });
  const allowed: string[] = [];
  const reload = (text: string) => {
    writeFileSync(path, text);
    source.reload(log, (outboundAllow) => void allowed.push(outboundAllow));
    return logged.splice(0);
  };
  const warned = () => {
    source.warnOfUnknown(log);
    return logged.splice(0);
  };
  return { source, reload, allowed, warned };
}

t.test("settings come from the file, and the environment wins", async (t) => {
  const { source } = arrange(t, "PORT=9000\nHOST=0.0.0.0\n", { PORT: "9001" });
  t.match(source.config, { port: 9_001, host: "0.0.0.0" });
  t.ok(source.hasFile);
  t.notOk(new SettingsSource({}).hasFile);
  t.throws(() => arrange(t, "PORT=canary"), { name: "WrongSetting", message: /^PORT: (?!.*canary)/ });
});

t.test("unknown names are warned of: those like settings in the environment, all in the file", async (t) => {
  const { warned } = arrange(t, "OUTBOUND_ALOW=a.example\nCOLOUR=red\nSETTINGS_FILE=b\n", {
    LOG_LEVL: "x",
    EDITOR: "vi",
  });
  t.same(warned().sort(), [
    "COLOUR in the settings file is not a setting, and has no effect",
    "LOG_LEVL in the environment is not a setting, and has no effect: did you mean LOG_LEVEL?",
    "OUTBOUND_ALOW in the settings file is not a setting, and has no effect: did you mean OUTBOUND_ALLOW?",
    "SETTINGS_FILE in the settings file has no effect: set it in the environment",
  ]);
});

t.test("read again, OUTBOUND_ALLOW takes effect, and any other change is logged as one for a restart", async (t) => {
  const { reload, allowed } = arrange(t, "PORT=9000\nSMTP_URL=smtp://a\n");
  t.same(reload("PORT=9000\nSMTP_URL=smtp://a\nOUTBOUND_ALLOW=a.example\n"), [
    "OUTBOUND_ALLOW was changed and has taken effect",
  ]);
  const restart = (name: string) => `${name} was changed: restart the service to apply it`;
  t.same(reload("PORT=9001\nLOG_LEVEL=debug\nOUTBOUND_ALLOW=a.example\n"), [
    ...["PORT", "SMTP_URL", "LOG_LEVEL"].map(restart),
  ]);
  t.same(reload("PORT=9001\nSMTP_URL=smtp://a\n"), [
    restart("PORT"),
    "OUTBOUND_ALLOW was changed and has taken effect",
  ]);
  t.same(reload("PORT=9000\nSMTP_URL=smtp://a\n"), [], "as at the start");
  t.same(allowed, ["a.example", ""]);
});

t.test("a file with a fault changes nothing, and says so without its values", async (t) => {
  const { reload, allowed } = arrange(t, "OUTBOUND_ALLOW=a.example\n");
  t.match(reload("OUTBOUND_ALLOW=not a host canary\n"), [/^kept the current settings: OUTBOUND_ALLOW: /]);
  t.match(reload("LOG_LEVEL=canary\nOUTBOUND_ALLOW=b.example\n"), [
    /^kept the current settings: LOG_LEVEL: (?!.*canary)/,
  ]);
  t.match(reload("canary"), [/^kept the current settings: SETTINGS_FILE: (?!.*canary)/]);
  t.same(allowed, []);
  t.same(reload("OUTBOUND_ALLOW=b.example\n"), ["OUTBOUND_ALLOW was changed and has taken effect"]);
});

t.test("what the environment sets is not changed by the file, which the log says once", async (t) => {
  const { reload, allowed } = arrange(t, "", { OUTBOUND_ALLOW: "a.example" });
  const text = "OUTBOUND_ALLOW=b.example\nOUTBOUND_ALOW=c.example\n";
  t.same(reload(text), [
    "OUTBOUND_ALOW in the settings file is not a setting, and has no effect: did you mean OUTBOUND_ALLOW?",
    "OUTBOUND_ALLOW was changed in the settings file, but the environment also sets it and takes precedence",
  ]);
  t.equal(reload(text).length, 1);
  t.same(allowed, []);
});

function fileWith(t: Test, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-settings-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "settings");
  writeFileSync(path, text);
  return path;
}

t.test("a settings file has lines KEY=value, with comments, quotes and line ends of any kind", async (t) => {
  const text = [
    "# the deployment",
    "",
    "\uFEFFPORT=9000",
    "export HOST = 0.0.0.0",
    'HOOK_SIGNING_KEY="-----BEGIN\nKEY-----"',
    "MODEL_PRICES='{\"in\": 1}' # a comment",
    "BASE_URL=https://a.example/?b=c",
    "EMPTY=",
    "LOG_LEVEL=debug",
  ];
  for (const end of ["\n", "\r\n"]) {
    const settings = readSettingsFile({
      SETTINGS_FILE: fileWith(t, text.join(end).replace(/^(.*)\uFEFF/s, "\uFEFF$1")),
    });
    t.match(settings, {
      PORT: "9000",
      HOST: "0.0.0.0",
      MODEL_PRICES: '{"in": 1}',
      BASE_URL: "https://a.example/?b=c",
      EMPTY: "",
      LOG_LEVEL: "debug",
    });
    t.match(settings.HOOK_SIGNING_KEY, /^-----BEGIN\nKEY-----$/);
  }
  t.same(readSettingsFile({}), {});
  t.same(readSettingsFile({ SETTINGS_FILE: "" }), {});
  t.same(readSettingsFile({ SETTINGS_FILE: fileWith(t, "") }), {});
});

t.test("a file that cannot be read whole is refused with one line that shows nothing of it", async (t) => {
  const cases: readonly (readonly [text: string, message: RegExp])[] = [
    ["PORT=1\ncanary\nHOST=a", /line 2$/],
    ["PORT=1\ncanary", /line 2$/],
    ["canary canary=1", /line 1$/],
    ["KEY=-----BEGIN\ncanary+/\n-----END", /line 2$/],
    ["PORT: 1", /line 1$/],
    ["PORT=1\n=canary", /line 2$/],
    [`A=${"a".repeat(1024 * 1024)}`, /larger than 1 MiB$/],
  ];
  for (const [text, message] of cases) {
    const read = () => readSettingsFile({ SETTINGS_FILE: fileWith(t, text) });
    t.throws(read, { name: "WrongSetting", message }, text.slice(0, 40));
    t.throws(read, { message: /^SETTINGS_FILE: [^\n]+$/ });
    t.throws(read, { message: /^(?!.*canary)/ });
  }
  for (const [path, code] of [
    [join(tmpdir(), "signalbox-none"), "ENOENT"],
    [tmpdir(), "EISDIR"],
  ] as const)
    t.throws(() => readSettingsFile({ SETTINGS_FILE: path }), {
      name: "WrongSetting",
      message: `SETTINGS_FILE: ${path} cannot be read (${code})`,
    });
});

t.test("the environment wins over the file, and an empty setting is none", async (t) => {
  const file = { PORT: "1", HOST: "a", LOG_LEVEL: "" };
  t.same(withSettingsFile({ PORT: "2", HOST: "", OTHER: undefined }, file), { PORT: "2", HOST: "a", LOG_LEVEL: "" });
});
