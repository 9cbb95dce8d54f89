import type { TreeFiles } from "../../../support/station-edit.js";
import { type Layout, line, OPEN, WAS } from "./layout.js";

/** Layouts in which a source names its text file without `path.module`. */
export function relativeFileLayouts(): readonly Layout[] {
  const forms = [
    "prompts/w.md",
    "./prompts/w.md",
    `${OPEN}path.root}/prompts/w.md`,
    `${OPEN} path.root }/prompts/w.md`,
    `${OPEN}path.root}/./prompts/w.md`,
    "prompts/../prompts/w.md",
    "prompts//w.md",
  ];
  const of = (form: string, path: string, files: TreeFiles, code: string | null, place = /main\.tf:\d/): Layout => ({
    says: `${path}: ${form}, with ${Object.keys(files).join(" and ")}`,
    path,
    change: "prompt",
    files: { [path]: line({ prompt: `file("${form}")` }), [path.replace("main.tf", "prompts/w.md")]: WAS, ...files },
    refused: code === null ? null : { code, place },
  });
  const call = { "envs/main.tf": 'module "l" {\n  source = "../lines"\n}\n' };
  const unit = { "live/terragrunt.hcl": 'terraform {\n  source = "..//lines"\n}\n' };
  const reader = {
    "lines/b.tf": line({ name: "b", prompt: `file("${OPEN}path.module}/prompts/w.md")` }).replace(
      'key = "web"',
      'key = "b"',
    ),
  };
  return [
    ...["main.tf", "lines/main.tf"].flatMap((path) => forms.map((form) => of(form, path, {}, null))),
    ...forms
      .slice(0, 3)
      .flatMap((form) => [
        of(form, "lines/main.tf", call, "computed"),
        of(form, "lines/main.tf", unit, "computed"),
        of(form, "lines/main.tf", reader, "ambiguous", /lines\/b\.tf:\d/),
      ]),
    of("/prompts/w.md", "main.tf", {}, "computed"),
    of("~/prompts/w.md", "main.tf", {}, "computed"),
    of(`${OPEN}path.cwd}/prompts/w.md`, "main.tf", {}, "computed"),
  ];
}
