import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { until } from "../../support/until.js";
import { ProtocolService } from "./protocol-service.js";
import { isAlive, sceneFolder, toJob } from "./run-scene.js";

const program = fileURLToPath(new URL("../../../http/runner/main.js", import.meta.url));

interface Started {
  readonly child: ChildProcess;
  /**
   * Resolves with the runner's complete output and its exit code, once the runner has exited. The code is null if a
   * signal ended the runner.
   */
  readonly over: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
}

/** Starts the runner as a separate process. */
function start(t: Test, args: readonly string[], env: Readonly<Record<string, string>> = {}): Started {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH ?? "", HOME: tmpdir(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.teardown(() => child.kill("SIGKILL"));
  const texts = [child.stdout, child.stderr].map(async (stream) => {
    let text = "";
    for await (const chunk of stream ?? []) text += String(chunk);
    return text;
  });
  const over = once(child, "close").then(async () => {
    const [out = "", err = ""] = await Promise.all(texts);
    return { code: child.exitCode, out, err };
  });
  return { child, over };
}

function emptyFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-runner-main-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

t.test("a wrong command line ends the program with one line that says what is wrong", async (t) => {
  const { code, out, err } = await start(t, ["--url", "http://127.0.0.1:1"]).over;
  t.equal(code, 64);
  t.equal(out, "");
  t.match(err, /^error: a pool token is required: .*SIGNALBOX_POOL_TOKEN.*\n$/);
});

t.test("the help does not show the token of the environment", async (t) => {
  const { code, out } = await start(t, ["--help"], { SIGNALBOX_POOL_TOKEN: "very-secret-token" }).over;
  t.equal(code, 0);
  t.match(out, "SIGNALBOX_POOL_TOKEN");
  t.notMatch(out, "very-secret-token");
});

t.test("two runners do not work in one folder; the next may once the first is gone", async (t) => {
  const folder = emptyFolder(t);
  const service = await ProtocolService.start(t);
  service.acknowledges = true;
  const args = ["--url", service.url, "--work-folder", folder];
  const env = { SIGNALBOX_POOL_TOKEN: service.token };
  const first = start(t, args, env);
  await service.frame("hello");
  service.welcome();
  const second = await start(t, args, env).over;
  t.equal(second.code, 1);
  t.match(
    second.err,
    new RegExp(`^error: the runner with process id ${first.child.pid} uses ${folder}.*--work-folder\\n$`),
  );
  first.child.kill("SIGTERM");
  t.equal((await first.over).code, 0);
  const third = start(t, args, env);
  await service.frame("hello", () => true, 2);
  third.child.kill("SIGKILL");
  await third.over;
  start(t, args, env);
  await service.frame("hello", () => true, 3);
});

t.test("a program after -- may have arguments that begin with dashes; a third signal kills it at once", async (t) => {
  const folder = sceneFolder(t);
  const service = await ProtocolService.start(t);
  const file = join(folder, "pid");
  const script = `require("fs").writeFileSync(${JSON.stringify(file)}, String(process.pid)); process.on("SIGTERM", () => 0);
    console.log("up"); setInterval(() => 0, 1000)`;
  const gitUrl = join(folder, "repositories/{name}");
  const args = ["--url", service.url, "--work-folder", join(folder, "work"), "--git-url", gitUrl];
  const { child, over } = start(t, [...args, "--", process.execPath, "--no-warnings", "-e", script], {
    SIGNALBOX_POOL_TOKEN: service.token,
  });
  await service.frame("hello");
  service.welcome();
  service.tell({ type: "run.assign", job: toJob({ harness: { args: [] } }) });
  await service.frame("message", ({ message }) => message.type === "run.step" && message.step.text === "up");
  const pid = Number(readFileSync(file, "utf8"));
  const offers = () => service.messages(1).filter(({ message }) => message.type === "offer").length;
  child.kill("SIGTERM");
  await service.until(() => offers() === 1 || undefined);
  t.ok(isAlive(pid), "the first signal lets it finish");
  child.kill("SIGINT");
  await service.until(() => offers() === 2 || undefined);
  child.kill("SIGTERM");
  const { code } = await over;
  t.equal(code, 1);
  // The system ends a killed process with some delay.
  await until("the agent's end", () => !isAlive(pid));
});

t.test("a runner whose first token is refused ends with 1; its lines have times", async (t) => {
  const service = await ProtocolService.start(t);
  const args = ["--url", service.url, "--work-folder", emptyFolder(t)];
  const { code, out } = await start(t, args, { SIGNALBOX_POOL_TOKEN: "another-token" }).over;
  t.equal(code, 1);
  const lines = out.trimEnd().split("\n");
  for (const line of lines) t.match(line, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \S/);
  t.match(lines.at(-1), /: the service rejected the pool token$/);
});
