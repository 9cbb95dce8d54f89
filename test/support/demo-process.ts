import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Test } from "tap";

/** The path of the demo's program. */
export const demoProgram = fileURLToPath(new URL("../../http/demo/main.js", import.meta.url));

/** The link and the commands that the demo prints at its end for the person who tries it. */
export interface Sights {
  /** The link that signs in and opens a task's page. */
  readonly link: string;
  /** The commands, as a person types them into a shell. */
  readonly commands: readonly string[];
}

/** The demo in a separate process. It has its own folder, which also contains its temporary files. */
export class Demo {
  readonly child: ChildProcess;
  readonly temporary: string;
  readonly #folder: string;
  #out = "";

  /** `program` holds the arguments of Node: the path of the demo's program, or of a program that starts the demo. */
  constructor(t: Test, args: readonly string[] = [], program: readonly string[] = [demoProgram]) {
    this.#folder = mkdtempSync(join(tmpdir(), "signalbox-demo-test-"));
    this.temporary = join(this.#folder, "temporary");
    mkdirSync(this.temporary);
    this.child = spawn(process.execPath, [...program, ...args], {
      cwd: this.#folder,
      env: { ...process.env, TMPDIR: this.temporary, npm_lifecycle_event: "demo" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#out += text;
    });
    t.teardown(() => {
      this.child.kill("SIGKILL");
      rmSync(this.#folder, { recursive: true, force: true });
    });
  }

  get out(): string {
    return this.#out;
  }

  /** Resolves when the demo has printed the text. Rejects if the demo exits first. */
  printed(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => this.#out.includes(text) && resolve();
      this.child.stdout?.on("data", look);
      this.child.once("close", (code) => reject(new Error(`it ended with ${code}:\n${this.#out}`)));
      look();
    });
  }

  async end(signal: NodeJS.Signals | null): Promise<number | null> {
    const closed = once(this.child, "close");
    if (signal !== null) this.child.kill(signal);
    await closed;
    return this.child.exitCode;
  }

  /**
   * Sends the signal as soon as the demo has printed the text. The demo does not pause for that. Returns the exit code,
   * or null if a signal killed the demo.
   */
  async endAt(text: string, signal: NodeJS.Signals): Promise<number | null> {
    const closed = once(this.child, "close");
    const look = () => {
      if (!this.#out.includes(text)) return;
      this.child.stdout?.off("data", look);
      this.child.kill(signal);
    };
    this.child.stdout?.on("data", look);
    await closed;
    return this.child.exitCode;
  }

  /** Returns the link and the commands that the demo has printed. */
  sights(): Sights {
    const links = [...this.#out.matchAll(/^open +(\S+)$/gm)].map(([, link = ""]) => link);
    const commands = [...this.#out.matchAll(/^ +(node \S+signalbox\.mjs .*)$/gm)].map(([, command = ""]) => command);
    if (links.length !== 1) throw new Error(`it printed ${links.length} links`);
    return { link: links[0] ?? "", commands };
  }

  /** Types a command into a shell in the demo's folder; returns the command's output. */
  async type(command: string): Promise<string> {
    const options = { cwd: this.#folder, env: { PATH: process.env.PATH ?? "", HOME: this.#folder, NO_COLOR: "1" } };
    return (await promisify(execFile)("sh", ["-c", command], options)).stdout;
  }

  /** Returns the processes whose command line or environment names the demo's temporary folder. */
  leftRunning(): string[] {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.filter((pid) => {
      try {
        return ["cmdline", "environ"].some((file) =>
          readFileSync(`/proc/${pid}/${file}`, "utf8").includes(this.temporary),
        );
      } catch {
        return false;
      }
    });
  }
}
