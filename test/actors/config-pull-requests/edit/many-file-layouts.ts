import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, line, OPEN } from "./layout.js";

/** Layouts with more files than one search reads. */
export function manyFileLayouts(): readonly Layout[] {
  const many = (name: (index: number) => string, text = "kind: Deployment\n"): TreeFiles =>
    Object.fromEntries(Array.from({ length: 401 }, (_, index) => [name(index), text]));
  const of = (says: string, files: TreeFiles, place: RegExp | null, team = '"team_1"'): Layout => ({
    says,
    path: "lines/main.tf",
    change: "model",
    files: {
      "lines/main.tf": line({ team }),
      "lines/teams.tf": 'resource "service_team" "core" {\n  key = "core"\n}\n',
      ...files,
    },
    refused: place === null ? null : { code: "ambiguous", place },
  });
  const team = "service_team.core.id";
  const select = "a:\n\tterraform workspace select core\nb:\n\tterraform workspace select web\n";
  const workflow = `jobs:\n  a:\n    env:\n      TF_WORKSPACE: ${OPEN}{ matrix.team }}\n`;
  const manifests = many((index) => `apps/a${index}/deployment.yaml`);
  const workflows = many((index) => `.github/workflows/a${index}.yml`, "on: push\n");
  return [
    of("manifests", manifests, null, team),
    of(
      "charts",
      many((index) => `charts/a${index}/values.yaml`),
      null,
      team,
    ),
    of(
      "programs",
      many((index) => `tools/a${index}.py`, "print()\n"),
      null,
      team,
    ),
    of("workflows, with the team's id", workflows, null),
    of("workflows", workflows, /cannot|unknown places/, team),
    of("manifests and a build file", { ...manifests, Makefile: select }, /Makefile:2 and Makefile:4/, team),
    of("manifests and a workflow", { ...manifests, ".github/workflows/a.yml": workflow }, /workflows\/a\.yml:4/, team),
    of("manifests and a script of the module", { ...manifests, "lines/run.sh": select }, /lines\/run\.sh:2/, team),
    of("manifests and a script", { ...manifests, "scripts/terraform.sh": select }, /terraform\.sh:2/),
  ];
}
