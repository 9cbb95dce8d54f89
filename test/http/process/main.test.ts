import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import WebSocket from "ws";
import { RawConnection } from "../../support/raw-connection.js";
import { startTestService } from "../../support/service.js";

const main = fileURLToPath(new URL("../../../http/process/main.js", import.meta.url));

async function readFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-main-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** The service as a process, and its output. */
class Process {
  readonly child: ChildProcess;
  out = "";
  err = "";
  #look: () => void = () => undefined;
  #ended = false;

  constructor(
    t: Test,
    settings: Readonly<Record<string, string>>,
    [program, ...args]: readonly [string, ...string[]] = [process.execPath, main],
  ) {
    this.child = spawn(program, args, {
      env: { PATH: process.env.PATH ?? "", PORT: "0", ...settings },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child.stdout?.on("data", (chunk: Buffer) => {
      this.out += chunk.toString();
      this.#look();
    });
    this.child.stderr?.on("data", (chunk: Buffer) => {
      this.err += chunk.toString();
    });
    this.child.once("close", () => {
      this.#ended = true;
      this.#look();
    });
    t.teardown(async () => {
      if (this.#ended) return;
      this.child.kill("SIGKILL");
      await once(this.child, "close");
    });
  }

  /** Resolves with the first match in the process's output. Throws if the process ends first. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.out);
      if (found !== null) return found;
      if (this.#ended) throw new Error(`the service ended after:\n${this.out}${this.err}`);
      await this.#more();
    }
  }

  async port(): Promise<number> {
    return Number((await this.says(/listening on http:\/\/127\.0\.0\.1:(\d+)/))[1]);
  }

  /** Resolves with the exit code of the process, or with the signal that ended it. */
  async end(): Promise<number | string | null> {
    while (!this.#ended) await this.#more();
    return this.child.exitCode ?? this.child.signalCode;
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#look = resolve;
    });
  }
}

t.test("a wrong setting stops the start with one line that names it, and touches nothing", async (t) => {
  const folder = join(await readFolder(t), "never");
  const service = new Process(t, { DATA_DIR: folder, PORT: "http" });
  t.equal(await service.end(), 1);
  t.match(service.err, /^PORT: [^\n]+\n$/);
  t.equal(service.out, "");
  await t.rejects(access(folder));
});

t.test("a second service on the same folder is refused with one line, and the first goes on", async (t) => {
  const first = await startTestService(t);
  const second = new Process(t, { DATA_DIR: first.folder });
  t.equal(await second.end(), 1);
  t.match(second.err, /^[^\n]+\n$/);
  t.ok(second.err.includes(first.folder), second.err);
  t.equal((await first.anonymous.request("GET", "/readyz")).status, 200);
});

/** Opens a socket as a person who signed in with the link from the log. */
async function openSocket(service: Process, port: number): Promise<WebSocket> {
  const url = `http://127.0.0.1:${port}`;
  const post = (path: string, body: unknown) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  await post("/api/sign-in", { email: "ada@example.com" });
  const [, token] = await service.says(/\/sign-in\/([\w-]{43})/);
  const cookie = (await post("/api/sessions", { token })).headers.get("set-cookie")?.split(";")[0] ?? "";
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/stream`, { headers: { cookie } });
  await once(socket, "open");
  return socket;
}

/**
 * Sends a request on a new connection. While a listener closes, Linux may still accept a connection. To the client,
 * such a connection looks open forever: the client gets a reset only when it sends something.
 */
async function askLate(t: Test, port: number): Promise<unknown> {
  const late = await RawConnection.open(port);
  t.teardown(async () => late.destroy());
  late.send(["GET /readyz HTTP/1.1", "Host: a"]);
  return late.answer();
}

/** Returns the command that `npm start` passes to its shell. */
async function npmStart(): Promise<string> {
  const { scripts } = JSON.parse(await readFile("package.json", "utf8"));
  return scripts.start;
}

// `test/contract/transport-drain.ts` covers how each transport drains; this test covers the path from the signal to the
// drain.
for (const [TRANSPORT, signal, program] of [
  ["uws", "SIGTERM", ["sh", "-c", `true && ${await npmStart()}`]],
  ["node", "SIGINT", [process.execPath, main]],
] as const) {
  t.test(`over ${TRANSPORT}, ${signal} finishes the request under way, closes sockets and ends with 0`, async (t) => {
    const settings = { DATA_DIR: await readFolder(t), TRANSPORT, LOG_LEVEL: "debug" };
    const service = new Process(t, settings, program);
    const port = await service.port();
    const socket = await openSocket(service, port);
    const closed = once(socket, "close");
    const connection = await RawConnection.open(port);
    t.teardown(async () => connection.destroy());
    const body = '{"email":"ada@example.com"}';
    connection.send(
      ["POST /api/sign-in HTTP/1.1", "Host: a", "Content-Type: application/json", `Content-Length: ${body.length}`],
      body.slice(0, 5),
    );
    const idle = await RawConnection.open(port);
    t.teardown(async () => idle.destroy());
    idle.send(["GET /readyz HTTP/1.1", "Host: a"]);
    t.equal((await idle.answer()).status, 200);

    service.child.kill(signal);
    await service.says(/draining/);
    await t.rejects(askLate(t, port), "nothing new is taken");
    const [code] = await closed;
    t.equal(code, 1001);
    connection.write(body.slice(5));
    const answer = await connection.answer();
    t.equal(answer.status, 202, "what was begun is finished");
    t.equal(answer.headers.connection?.toLowerCase(), "close");
    t.equal(await service.end(), 0);
    t.match(service.out, /"stopped"/);
    t.equal(service.err, "");
    const lines = service.out
      .trimEnd()
      .split("\n")
      .map((line): { msg: string } => JSON.parse(line));
    t.equal(lines.filter(({ msg }) => msg === `listening on http://127.0.0.1:${port}`).length, 1, "lines are JSON");
  });
}

t.test("a second signal ends the service at once", async (t) => {
  const service = new Process(t, { DATA_DIR: await readFolder(t) });
  const connection = await RawConnection.open(await service.port());
  t.teardown(async () => connection.destroy());
  connection.send(
    ["POST /api/sign-in HTTP/1.1", "Host: a", "Content-Type: application/json", "Content-Length: 5"],
    "{",
  );
  const other = await RawConnection.open(await service.port());
  other.send(["GET /readyz HTTP/1.1", "Host: a"]);
  await other.answer();
  other.destroy();
  service.child.kill("SIGTERM");
  await service.says(/draining/);
  service.child.kill("SIGINT");
  t.equal(await service.end(), 1);
  t.notMatch(service.out, /"stopped"/);
});

t.test("a signal that the terminal sends and npm passes on is one: what was begun is finished", async (t) => {
  const service = new Process(t, { DATA_DIR: await readFolder(t) });
  const port = await service.port();
  const connection = await RawConnection.open(port);
  t.teardown(async () => connection.destroy());
  const body = '{"email":"ada@example.com"}';
  connection.send(
    ["POST /api/sign-in HTTP/1.1", "Host: a", "Content-Type: application/json", `Content-Length: ${body.length}`],
    body.slice(0, 5),
  );
  // When this answer arrives, the service has also received all earlier requests. So the signal comes while a request
  // is in progress.
  t.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);
  // Send both signals immediately, as a terminal does. After half a second, the service would count them separately.
  service.child.kill("SIGINT");
  service.child.kill("SIGINT");
  await service.says(/draining/);
  connection.write(body.slice(5));
  t.equal((await connection.answer()).status, 202);
  t.equal(await service.end(), 0);
});

t.test(
  "what npm start runs is the service itself: a signal that npm passes on reaches it, as shown above",
  async (t) => {
    const { scripts } = JSON.parse(await readFile("package.json", "utf8"));
    for (const name of ["start", "runner", "demo"]) {
      t.match(scripts[name], /(^| && )exec node [^&|;]+$/, "the shell between npm and the program is gone");
    }
  },
);

t.test("a service whose log nobody reads any more goes on, drains and ends with 0", async (t) => {
  const service = new Process(t, { DATA_DIR: await readFolder(t) });
  const port = await service.port();
  service.child.stdout?.destroy();
  service.child.stderr?.destroy();
  const post = { method: "POST", headers: { "content-type": "application/json" } };
  for (const email of ["ada@example.com", "bob@example.com"]) {
    // The service writes the sign-in link to its log, but the test has closed the log's stream.
    const asked = await fetch(`http://127.0.0.1:${port}/api/sign-in`, { ...post, body: JSON.stringify({ email }) });
    t.equal(asked.status, 202);
  }
  service.child.kill("SIGTERM");
  t.equal(await service.end(), 0);
});

t.test("a service whose log is gone when it is asked to end says so to nobody, and ends with 0", async (t) => {
  const service = new Process(t, { DATA_DIR: await readFolder(t) });
  await service.port();
  service.child.stdout?.destroy();
  service.child.stderr?.destroy();
  service.child.kill("SIGTERM");
  t.equal(await service.end(), 0);
});

t.test("on SIGHUP a changed OUTBOUND_ALLOW takes effect, and another change is said to need a restart", async (t) => {
  const folder = await readFolder(t);
  const file = join(folder, "settings");
  await writeFile(file, "OUTBOUND_ALLOW=one.example.com\n");
  const service = new Process(t, { DATA_DIR: join(folder, "data"), SETTINGS_FILE: file });
  await service.port();
  await writeFile(file, "OUTBOUND_ALLOW=two.example.com\nSIGN_IN_DOMAINS=example.com\n");
  service.child.kill("SIGHUP");
  await service.says(/SIGN_IN_DOMAINS was changed: restart the service to apply it/);
  await service.says(/OUTBOUND_ALLOW was changed and has taken effect/);
  service.child.kill("SIGTERM");
  t.equal(await service.end(), 0);
});
