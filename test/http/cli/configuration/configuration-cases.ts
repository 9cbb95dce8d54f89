import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandCase, CommandScene } from "../../../support/command-cases.js";

let made = 0;

/** Writes a folder with the workspace `acme`, its team and a skill that the workspace does not have; returns its name. */
export function makeFolder({ signalbox }: CommandScene): string {
  made += 1;
  const name = `folder-${made}`;
  mkdirSync(join(signalbox.home, name));
  const text = `
resource "service_workspace" "acme" {
  slug = "acme"
  name = "Acme"
}

resource "service_team" "core" {
  workspace_id = service_workspace.acme.id
  key          = "core"
  name         = "Core"
}

resource "service_skill" "made" {
  team_id = service_team.core.id
  key     = "made-${made}"
  name    = "Made"
  files   = [{ path = "SKILL.md", content = "# Made\\n" }]
}
`;
  writeFileSync(join(signalbox.home, name, "main.tf"), text);
  return name;
}

export const configurationCases: readonly CommandCase[] = [
  {
    name: "export",
    args: () => {
      made += 1;
      return [`exported-${made}`];
    },
    prints: /^exported the workspace acme into \/.*\/exported-\d+: 2 files written, 0 unchanged$/,
    json: { workspace: { slug: "acme" }, files: ["main.tf", "variables.tf"], written: ["main.tf", "variables.tf"] },
    wrong: ["--workspace"],
  },
  {
    name: "plan",
    args: (scene) => [makeFolder(scene)],
    prints:
      /^\+ create skill core\/made-\d+ \(service_skill\.made, main\.tf:13\)\n {4}key: "made-\d+"\n {4}name: "Made"\n(.|\n)*\n1 to create, 0 to change, 0 to delete$/,
    json: { workspace: { slug: "acme" }, changes: [{ action: "create", kind: "skill" }], notInFolder: [] },
    wrong: ["folder", "--var", "x"],
    code: 2,
  },
  {
    name: "apply",
    args: (scene) => [makeFolder(scene), "--yes"],
    prints: /^\+ create skill (.|\n)*\ncreated skill core\/made-\d+$/,
    json: { done: [{ action: "create", kind: "skill" }], stoppedAt: null, notDone: [] },
    wrong: ["no-such-folder"],
  },
];
