import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { inRepository } from "../../support/repository.js";
import { putGitFirst } from "./first-git.js";
import { RunScene, sceneFolder } from "./run-scene.js";

/** What a runner logs about its machine at startup. */

t.test("a git that is too old is named at the start, and is the reason of what it cannot do", async (t) => {
  const folder = sceneFolder(t);
  putGitFirst(t, folder, { version: "2.30.1", merging: 1 });
  const scene = await RunScene.start(t, { folder });
  t.match(scene.said.slice(0, 2), ["git 2.30.1", /too old for merging branches, which needs 2\.38 or later/]);
  t.match(await scene.work({ agent: "echo hi" }), { outcome: "completed" }, "the rest goes on");
  const repository = scene.path("repositories/acme/app");
  inRepository(repository, "branch", "work");
  writeFileSync(join(repository, "b.txt"), "later\n");
  inRepository(repository, "add", ".");
  inRepository(repository, "commit", "--quiet", "-m", "Later");
  const checkouts = [{ branch: "work", merges: { branch: "main", commit: null } }];
  const ended = await scene.work({ runId: "run_2", checkouts });
  t.match(ended.failure, { code: "checkout-failed", output: /merging branches needs git 2\.38 or later.*2\.30\.1/ });
});

t.test("a program that cannot be started is named when the runner starts", async (t) => {
  const folder = sceneFolder(t);
  const script = join(folder, "script");
  writeFileSync(script, "#!/no/such/interpreter\n");
  const start = async (...command: string[]) => {
    const scene = await RunScene.start(t, { command });
    return scene.said.filter((line) => line.startsWith("cannot start the program"));
  };
  t.match(await start("no-such-program-here", "x"), [
    /cannot start the program \S*no-such-program-here \(it is not in a folder of PATH\)/,
  ]);
  t.match(await start(join(folder, "absent")), [/there is no such file/]);
  t.match(await start(script), [/it is not executable/]);
  chmodSync(script, 0o755);
  t.match(await start(script), [/its interpreter \/no\/such\/interpreter does not exist/]);
  t.match(await start(folder), [/it is not a file/]);
  for (const fine of ["sh", "/bin/sh", "./in-the-checkout"]) t.same(await start(fine), [], fine);
  t.same(await start(), []);
});
