import { type Layout, OPEN } from "./layout.js";
import { beside } from "./text-layout.js";

/**
 * Layouts in which names contain a folder's path, or commands run code, but nothing reads a file of the repository.
 * Also layouts with similar code that may read a file of the repository.
 */
export function elsewhereLayouts(): readonly Layout[] {
  const MODULE = `${OPEN}path.module}`;
  const resource = (body: string, type = "x_y") => `resource "${type}" "x" {\n  ${body}\n}\n`;
  const of = (code: string, place: RegExp | null) => beside(code, { "lines/b.tf": code }, place);
  const provisioner = (type: string, body: string) =>
    resource(`provisioner "${type}" {\n    ${body}\n  }`, "null_resource");
  const at = /at lines\/b\.tf:\d/;
  const names = ["path.module", `"${MODULE}"`, "path.cwd", `"${OPEN}path.cwd}"`, "path.root", "abspath(path.module)"];
  return [
    ...names.flatMap((name, index) => [
      of(resource(`tags = {\n    Folder = ${name}\n  }`), null),
      of(
        resource(`${["description", "name", "labels", "name_prefix", "comment", "display_name"][index]} = ${name}`),
        null,
      ),
    ]),
    of(`provider "aws" {\n  default_tags {\n    tags = { folder = path.module }\n  }\n}\n`, null),
    of(resource(`tags = merge(var.tags, { folder = path.module })`), null),
    of(resource(`tags = { text = file("${MODULE}/prompts/w.md") }`), at),
    of(resource(`name = templatefile("${MODULE}/prompts/w.md", {})`), at),
    of(resource(`folder = path.module`), at),
    of(resource("base = path.module"), at),
    ...[
      `inline = ["sudo ${OPEN}var.command}"]`,
      "inline = [var.command]",
      "inline = var.commands",
      `inline = ["${OPEN}var.a} ${OPEN}var.b}", "ls"]`,
    ].flatMap((body) => [of(provisioner("remote-exec", body), null)]),
    ...["command = var.command", `command = "sh ${OPEN}var.script}"`].map((body) =>
      of(provisioner("local-exec", body), at),
    ),
    of(provisioner("remote-exec", "script = var.script"), at),
    of(provisioner("remote-exec", `inline = [file("${MODULE}/prompts/w.md")]`), at),
    of(provisioner("file", `source = "${MODULE}/prompts"`), at),
    of(
      resource(
        'container_definitions = jsonencode([{ name = "a", command = [var.command] }])',
        "aws_ecs_task_definition",
      ),
      null,
    ),
    of(
      resource('container_definitions = jsonencode([{ command = ["sh", var.script] }])', "aws_ecs_task_definition"),
      null,
    ),
    of(
      resource(
        "spec {\n    container {\n      command = [var.command]\n      args = [var.arg]\n    }\n  }",
        "kubernetes_pod",
      ),
      null,
    ),
    of(resource("spec {\n    container {\n      command = var.command\n    }\n  }", "kubernetes_deployment_v1"), null),
    of(resource(`user_data = "#!/bin/sh\\n${OPEN}var.command}"`, "aws_instance"), null),
    of(resource(`user_data = file("${MODULE}/prompts/w.md")`, "aws_instance"), at),
    of('data "external" "x" {\n  program = [var.program]\n}\n', at),
  ];
}
