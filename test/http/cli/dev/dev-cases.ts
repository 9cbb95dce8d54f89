import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandCase } from "../../../support/command-cases.js";
import { layRepository } from "../../../support/repository.js";

let folder: string | null = null;

/** Returns the repository of the table test. The first call creates the repository. */
function inProject(): string {
  if (folder === null) {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-dev-case-")));
    layRepository(join(folder, "project"));
  }
  return join(folder, "project");
}

/** Removes the repository of the table test. */
export function removeProject(): void {
  if (folder !== null) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

export const devCases: readonly CommandCase[] = [
  {
    name: "dev",
    args: () => ["--port", "0"],
    folder: inProject,
    isInterrupted: true,
    prints:
      /^address +http:\/\/127\.0\.0\.1:\d+\/sign-in\/[\w-]{43} \(.* then http:\/\/127\.0\.0\.1:\d+\)\nagent +built-in example agent.*\nnext .*signalbox task open.*\nlog +\/.*\.signalbox\/dev\.log$/,
    json: {
      url: /^http:\/\/127\.0\.0\.1:\d+$/,
      link: /\/sign-in\//,
      agent: [/node/, /example-agent/],
      log: /dev\.log$/,
    },
    wrong: ["--stations", "Work"],
  },
];
