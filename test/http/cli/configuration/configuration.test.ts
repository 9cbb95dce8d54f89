import { join } from "node:path";
// The parser of HCL sets globals, so this file has a process of its own.
import "@cdktn/hcl2json";
import t from "tap";
import { openCommandScene, testCommands } from "../../../support/command-cases.js";
import { settings, valueFor, wholeWorkspace } from "../../../support/whole-workspace.js";
import { configurationCases } from "./configuration-cases.js";
import { applyExport, editExport, readFolder, type Tally, writeFolder } from "./generated-edits.js";

const scene = await openCommandScene(t, settings);
const { signalbox, person } = scene;

t.test("every command, as a person and a program use it", async (t) => {
  await testCommands(t, scene, configurationCases);
});

t.test("the export of every kind changes nothing, and makes the same workspace elsewhere", async (t) => {
  const id = await wholeWorkspace(person, "whole");
  const run = (args: string, env = {}) => signalbox.run(args.split(" "), { env });
  const exported = await run("export whole --workspace whole");
  t.match(exported, { code: 0, out: /^exported the workspace whole into .*: 10 files written/ });
  t.match(await run("export whole --workspace whole"), { code: 0, out: /0 files written, 10 unchanged/ });
  t.same(await run("plan whole"), { code: 0, out: "no changes", err: "" });

  const files = readFolder(join(signalbox.home, "whole"));
  const main = (files.get("main.tf") ?? "").replace('slug = "whole"', 'slug = "copy"');
  writeFolder(join(signalbox.home, "copy"), new Map([...files, ["main.tf", main]]));
  const missing = /main\.tf:\d+: the variable runner_pool__1-linux_token has no value: pass --var/;
  t.match(await run("plan copy"), { code: 1, err: missing });
  const names = [...(files.get("variables.tf") ?? "").matchAll(/variable "(.*)"/g)].map(([, name = ""]) => name);
  const values = names.map((name) => [name, name.startsWith("runner") ? `${valueFor(name)}-2` : valueFor(name)]);
  const env = Object.fromEntries(values.map(([name, value]) => [`SIGNALBOX_VAR_${name}`, value]));
  const created = /^\+ create workspace copy \(service_workspace\.whole, main\.tf:6\)/;
  t.match(await run("plan copy", env), { code: 2, out: created });
  const applied = await run("apply copy --yes", env);
  t.equal(applied.code, 0, applied.err);
  t.match(await run("plan copy"), { code: 0, out: "no changes" });
  t.match(await run("export again --workspace copy"), { code: 0 });
  const again = readFolder(join(signalbox.home, "again"));
  const copyId = /"(ws_\w+)\//.exec(again.get("main.tf") ?? "")?.[1] ?? "";
  const renamed = (text: string) =>
    text
      .replaceAll(id, copyId)
      .replaceAll(/(service_workspace(_runners)?)\.whole/g, "$1.copy")
      .replaceAll(/"whole"|(?<=\/)whole"/g, (found) => found.replace("whole", "copy"));
  t.same(Object.fromEntries(again), Object.fromEntries([...files].map(([path, text]) => [path, renamed(text)])));
});

/** Number of generated workspaces of each sort. By default, `npm run configurations` uses 500. */
const WORKSPACES = 6;

t.test("exports of generated workspaces change nothing, and edits are planned exactly and applied", async (t) => {
  const tally: Tally = { unchanged: 0, edited: 0, edits: new Map(), wrong: [] };
  for (let seed = 0; seed < WORKSPACES; seed += 1) {
    await applyExport(scene, seed, tally);
    await editExport(scene, seed, tally);
  }
  t.same(tally.wrong, []);
});
