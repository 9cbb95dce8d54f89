import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandCase } from "../../../support/command-cases.js";
import { layRepository } from "../../../support/repository.js";

let repository: string | null = null;

/** Returns the repository of the table test. The first call creates it. */
function inProject(): string {
  if (repository === null) {
    repository = join(realpathSync(mkdtempSync(join(tmpdir(), "signalbox-dev-case-"))), "project");
    layRepository(repository);
  }
  return repository;
}

export const devCases: readonly CommandCase[] = [
  {
    name: "dev",
    args: () => ["--port", "0"],
    folder: inProject,
    isInterrupted: true,
    prints:
      /^service +http:\/\/127\.0\.0\.1:\d+\/sign-in\/[\w-]{43} .*\nagent +the built-in example agent.*\nnext .*signalbox task open.*\nlog +\/.*\.signalbox\/dev\.log$/,
    json: {
      url: /^http:\/\/127\.0\.0\.1:\d+$/,
      link: /\/sign-in\//,
      agent: [/node/, /example-agent/],
      log: /dev\.log$/,
    },
    wrong: ["--stations", "Work"],
  },
];
