import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";

/** The path of the demo's program. */
export const demoProgram = fileURLToPath(new URL("../../http/demo/main.js", import.meta.url));

/** A command that the demo prints for looking around. */
export interface DemoCommand {
  /** A header with its value. */
  readonly name: string;
  readonly value: string;
  readonly url: string;
}

/** The demo as a process of its own, with a folder of its own for its temporary files too. */
export class Demo {
  readonly child: ChildProcess;
  readonly temporary: string;
  readonly #folder: string;
  #out = "";

  /** `program` is what Node runs: the demo, or what starts it. */
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

  /** Resolves once it has printed that; rejects when it ends before. */
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

  /** Sends the signal the moment it has printed that: it goes on meanwhile. */
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

  /** The commands for looking around that it printed. */
  commands(): readonly DemoCommand[] {
    return this.#out.split("\n").flatMap((line) => {
      const [, name = "", value = "", url = ""] = /^ *curl -H '([^:]+): ([^']+)' (\S+)$/.exec(line) ?? [];
      return name === "" ? [] : [{ name, value, url }];
    });
  }

  /** Processes that were started with anything of its temporary folder. */
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
