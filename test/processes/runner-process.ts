import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The real runner program as a process of its own. */
export class RunnerProcess {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];

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
    this.#child = spawn(process.execPath, [`${root}http/runner/main.js`, ...args], {
      env: { PATH: process.env.PATH ?? "", HOME: workFolder, SIGNALBOX_POOL_TOKEN: token },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const hear = (chunk: Buffer) => this.#lines.push(...chunk.toString("utf8").trimEnd().split("\n"));
    this.#child.stdout?.on("data", hear);
    this.#child.stderr?.on("data", hear);
  }

  /** Everything it wrote. */
  get output(): readonly string[] {
    return this.#lines;
  }

  /** Ends it with a signal and waits for its end; gives its exit code, null after a signal that killed it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
    return this.#child.exitCode;
  }
}
