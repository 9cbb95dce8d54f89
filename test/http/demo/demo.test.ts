import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";

const demo = fileURLToPath(new URL("../../../http/demo/main.js", import.meta.url));

/** The demo as a process of its own, in a folder of its own, which it has for its temporary files too. */
class Demo {
  readonly child: ChildProcess;
  readonly temporary: string;
  readonly #folder: string;
  #out = "";

  constructor(t: Test, args: readonly string[] = []) {
    this.#folder = mkdtempSync(join(tmpdir(), "signalbox-demo-test-"));
    this.temporary = join(this.#folder, "temporary");
    mkdirSync(this.temporary);
    this.child = spawn(process.execPath, [demo, ...args], {
      cwd: this.#folder,
      env: { ...process.env, TMPDIR: this.temporary },
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

t.test("the demo ends as it should: all tasks done, two sent back, one veto, every request verified", async (t) => {
  const demo = new Demo(t, ["--exit"]);
  t.equal(await demo.end(null), 0);
  t.match(demo.out, /acme\/project is made for the demo, with 2 commits/);
  t.match(demo.out, /6 of 6 tasks done: \d+ steps, 10 moves, 2 sent back by review/);
  t.match(demo.out, /hooks fired: \d+ requests verified with standardwebhooks, 0 forged/);
  t.match(demo.out, /handovers refused by the before-hook: 1\n/);
  t.match(demo.out, /refused\. Reason: the note must name the file/);
  t.same(readdirSync(demo.temporary), []);
});

t.test("it stays up for looking around, as it says how, until it is ended", async (t) => {
  const demo = new Demo(t);
  await demo.printed("/hook-occurrences\n");
  const commands = demo.out
    .split("\n")
    .flatMap((line) => /^ *curl -H '([^:]+): ([^']+)' (\S+)$/.exec(line)?.slice(1) ?? []);
  t.equal(commands.length, 6);
  for (const [name = "", value = "", url = ""] of [commands.slice(0, 3), commands.slice(3)]) {
    const answer = await fetch(url, { headers: { [name]: value } });
    t.equal(answer.status, 200);
    t.ok(((await answer.json()) as { items: unknown[] }).items.length >= 6);
  }
  t.equal(await demo.end("SIGINT"), 0);
  t.same(readdirSync(demo.temporary), []);
  t.same(demo.leftRunning(), []);
});

t.test("ended in the middle of the work it leaves no process and no folder", async (t) => {
  const demo = new Demo(t);
  t.equal(await demo.endAt(": running at work", "SIGINT"), 130);
  t.same(readdirSync(demo.temporary), []);
  t.same(demo.leftRunning(), []);
});

t.test("an option that it does not have is told of, and nothing is begun", async (t) => {
  const demo = new Demo(t, ["--exti"]);
  t.equal(await demo.end(null), 1);
  t.equal(demo.out, "");
  t.same(readdirSync(demo.temporary), []);
});
