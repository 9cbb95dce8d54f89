import { rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { openCommandScene, testCommands } from "../../../support/command-cases.js";
import { openSignalbox } from "../../../support/signalbox.js";
import { folderMaker, storeCases } from "./store-cases.js";

t.test("the commands on the store of a stopped service", async (t) => {
  const { parent, folder } = folderMaker();
  t.teardown(() => rmSync(parent, { recursive: true, force: true }));
  const scene = await openCommandScene(t);
  await scene.service.stop();
  await testCommands(t, { ...scene, folder }, storeCases);
});

t.test("a command on a folder that is no store fails with one line, for people and as JSON", async (t) => {
  const { parent } = folderMaker();
  t.teardown(() => rmSync(parent, { recursive: true, force: true }));
  const { run } = openSignalbox(t);
  const nowhere = join(parent, "nowhere");
  const commands = [
    ...["dead-letters", "doctor", "compact", "rebuild-directory", "recount-bodies"].map((name) => [
      name,
      "--data",
      nowhere,
    ]),
    ["backup", "--data", nowhere, "--to", join(parent, "to")],
    ["restore", "--from", nowhere, "--data", join(parent, "to")],
  ];
  for (const command of commands) {
    const people = await run(command);
    t.same([people.code, people.out], [1, ""], command.join(" "));
    t.match(people.err, /^error: [^\n]*nowhere[^\n]*$/, command.join(" "));
    const program = await run([...command, "--json"]);
    t.same([program.code, program.out], [1, ""], command.join(" "));
    t.match(JSON.parse(program.err), { error: /nowhere/ }, command.join(" "));
  }
});
