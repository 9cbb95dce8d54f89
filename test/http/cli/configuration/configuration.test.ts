import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { openCommandScene, testCommands } from "../../../support/command-cases.js";
import { settings, valueFor, wholeWorkspace } from "../../../support/whole-workspace.js";
import { configurationCases } from "./configuration-cases.js";

const scene = await openCommandScene(t, settings);
const { signalbox, person } = scene;

t.test("every command, as a person and a program use it", async (t) => {
  await testCommands(t, scene, configurationCases);
});

/** Reads all files of a folder, by their relative paths. */
function readAll(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  );
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

t.test("the export of every kind changes nothing, and makes the same workspace elsewhere", async (t) => {
  const id = await wholeWorkspace(person, "whole");
  const run = (args: string, env = {}) => signalbox.run(args.split(" "), { env });
  t.match(await run("export whole --workspace whole"), {
    code: 0,
    out: /^exported the workspace whole into .*: 10 files written/,
  });
  t.match(await run("export whole --workspace whole"), { code: 0, out: /0 files written, 10 unchanged/ });
  t.same(await run("plan whole"), { code: 0, out: "no changes", err: "" });

  const files = readAll(join(signalbox.home, "whole"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(signalbox.home, "copy", path, ".."), { recursive: true });
    const copied = path.endsWith(".tf") ? text.replace('slug = "whole"', 'slug = "copy"') : text;
    writeFileSync(join(signalbox.home, "copy", path), copied);
  }
  const missing = await run("plan copy");
  t.match(missing, { code: 1, err: /main\.tf:\d+: the variable runner_pool__1-linux_token has no value: pass --var/ });
  const names = [...(files["variables.tf"] ?? "").matchAll(/variable "(.*)"/g)].map(([, name = ""]) => name);
  const env = Object.fromEntries(
    names.map((name) => [`SIGNALBOX_VAR_${name}`, name.startsWith("runner") ? `${valueFor(name)}-2` : valueFor(name)]),
  );
  t.match(await run("plan copy", env), {
    code: 2,
    out: /^\+ create workspace copy \(service_workspace\.whole, main\.tf:6\)/,
  });
  const applied = await run("apply copy --yes", env);
  t.equal(applied.code, 0, applied.err);
  t.match(await run("plan copy"), { code: 0, out: "no changes" });
  t.match(await run("export again --workspace copy"), { code: 0 });
  const again = readAll(join(signalbox.home, "again"));
  const copyId = /"(ws_\w+)\//.exec(again["main.tf"] ?? "")?.[1] ?? "";
  const renamed = (text: string) =>
    text
      .replaceAll(id, copyId)
      .replaceAll(/(service_workspace(_runners)?)\.whole/g, "$1.copy")
      .replaceAll(/"whole"|(?<=\/)whole"/g, (found) => found.replace("whole", "copy"));
  t.same(again, Object.fromEntries(Object.entries(files).map(([path, text]) => [path, renamed(text)])));
});
