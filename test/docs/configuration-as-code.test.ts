import { readFileSync } from "node:fs";
import t from "tap";
import { parse } from "yaml";
import { openDocsScene } from "../support/docs-scene.js";
import { readBlocks } from "../support/page-blocks.js";

const PAGE = "docs/configuration-as-code.md";

t.test("every command of the page works, and the plans are as shown", async (t) => {
  const { reader, values, teamId, ada } = await openDocsScene(t);
  values["<team id>"] = teamId;
  const blocks = readBlocks(readFileSync(PAGE, "utf8"), PAGE);
  let shown = 0;
  await reader.follow(PAGE, {
    values,
    after: async ({ line, code }, { out, err }) => {
      const next = blocks[blocks.findIndex((block) => block.line === line) + 1];
      if (next?.language === "text") {
        shown += 1;
        t.equal(out.replace(/^\{.*\}(?=~)/, "").trim(), next.code, `${line}: ${err}`);
      }
      if (code.includes("--prune")) t.match(out, /not in the folder: 1 resource[\s\S]*deleted team docs/);
    },
  });
  t.equal(shown, 3);
  const { body } = await ada.request("GET", `/api/resources/teams/${teamId}`);
  t.match(body, { name: "The core team" });
  const log = await ada.request("GET", "/api/workspaces/acme/configuration-changes");
  t.match(log.body, { items: [{ resource: "team", key: "core", action: "updated", by: { kind: "token" } }] });

  const workflow = blocks.find(({ title }) => title?.endsWith(".yml") === true)?.code ?? "";
  const steps: readonly { readonly name?: string; readonly run?: string }[] = parse(workflow).jobs.configuration.steps;
  const commands = blocks.filter(({ language }) => language === "sh").flatMap(({ code }) => code.split("\n"));
  for (const name of ["Plan", "Apply"]) {
    const run = steps.find((step) => step.name === name)?.run;
    t.ok(commands.includes(String(run)), `${name} of the workflow is a command of the page: ${run}`);
  }
});
