import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { readSettingsFile, withSettingsFile } from "../../../http/process/settings-file.js";

/** Creates a file with this text. */
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
