import { spawn } from "node:child_process";
import { signalbox } from "../support/signalbox-command.js";
import { ChildProgram } from "./child-program.js";

/** The runner as a separate process, started as people start it. */
export class RunnerProcess extends ChildProgram {
  constructor(options: {
    readonly url: string;
    readonly token: string;
    readonly workFolder: string;
    readonly gitUrl: string;
    readonly command: readonly string[];
    readonly more?: readonly string[];
  }) {
    const { url, token, workFolder, gitUrl, command, more = [] } = options;
    const args = ["--url", url, "--work-folder", workFolder, "--git-url", gitUrl, ...more, "--command", ...command];
    super(
      spawn(process.execPath, [signalbox, "runner", ...args], {
        env: { PATH: process.env.PATH ?? "", HOME: workFolder, SIGNALBOX_POOL_TOKEN: token },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
  }
}
