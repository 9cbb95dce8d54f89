import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";

/** The path of the demo's program. */
export const demoProgram = fileURLToPath(new URL("../../http/demo/main.js", import.meta.url));

/** A curl command that the demo prints, with which people explore the service. */
export interface DemoCommand {
  /** The header's name. */
  readonly name: string;
  readonly value: string;
  readonly url: string;
}

/** The demo in a separate process, with its own folder, also for temporary files. */
export class Demo {
  readonly child: ChildProcess;
  readonly temporary: string;
  readonly #folder: string;
  #out = "";

  /** `program` holds the arguments of Node: the demo's program, or a program that starts it. */
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

  /** Resolves once the demo has printed the text; rejects if it exits first. */
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
   * Sends the signal as soon as the demo has printed the text, without pausing the demo. Returns the exit code; null
   * after a signal that killed the demo.
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

  /** Returns the exploration commands that the demo printed. */
  commands(): readonly DemoCommand[] {
    return this.#out.split("\n").flatMap((line) => {
      const [, name = "", value = "", url = ""] = /^ *curl -H '([^:]+): ([^']+)' (\S+)$/.exec(line) ?? [];
      return name === "" ? [] : [{ name, value, url }];
    });
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
