import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { RunFolder } from "../../../../http/runner/checkout/run-folder.js";

t.test("a run's skills lie in folders of their keys, and nothing of them outside", async (t) => {
  const workFolder = mkdtempSync(join(tmpdir(), "signalbox-folder-"));
  t.teardown(() => rmSync(workFolder, { recursive: true }));
  const folder = await RunFolder.create(workFolder, { runId: "run_1", fence: 1 });
  const skill = (path: string) => ({ key: "greet", name: "", description: "", files: [{ path, content: "x" }] });
  await folder.writeSkills([skill("a/b/c.txt"), { ...skill("SKILL.md"), key: "other" }]);
  t.equal(readFileSync(join(folder.skills, "greet/a/b/c.txt"), "utf8"), "x");
  t.equal(readFileSync(join(folder.skills, "other/SKILL.md"), "utf8"), "x");
  for (const path of ["../outside", "a/../../outside", ".."]) {
    await t.rejects(folder.writeSkills([skill(path)]), /the skill greet contains the invalid path/, path);
  }
  t.notOk(existsSync(join(folder.skills, "outside")));
});
