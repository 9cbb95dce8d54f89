import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { CommandError } from "../../../../http/cli/command/exit-codes.js";
import { processTerminal } from "../../../../http/cli/command/terminal.js";
import { toRepositoryName } from "../../../../http/cli/dev/checkout.js";
import { admitLocalHosts, choosePort, readSettings } from "../../../../http/cli/dev/dev-settings.js";
import { toNotePath } from "../../../../http/cli/dev/example-note.js";
import { explained } from "../../../../http/cli/dev/explained.js";
import { openLogFile } from "../../../../http/cli/dev/log-file.js";
import { toLocalEmail } from "../../../../http/cli/dev/sign-in.js";
import { Refused } from "../../../../http/wire/refused.js";

t.test("the log keeps at most one earlier file, and loses no line", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-log-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "dev.log");
  for (let line = 0; line < 30; line++) openLogFile(path, 50).write(`line ${line} ${"x".repeat(10)}\n`);
  t.same(readdirSync(folder).sort(), ["dev.log", "dev.log.1"]);
  const text = readFileSync(`${path}.1`, "utf8") + readFileSync(path, "utf8");
  t.match(text, /^line 2\d .*\n(line 2\d .*\n)*line 29 x+\n$/);
  t.ok(text.length <= 100);
  t.end();
});

t.test("the log is never written through a link", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-log-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [path, victim] = [join(folder, "dev.log"), join(folder, "profile")];
  writeFileSync(victim, "mine\n");
  const log = openLogFile(path);
  rmSync(path);
  symlinkSync(victim, path);
  log.write("line\n");
  t.throws(() => openLogFile(path), { code: "ELOOP" });
  t.equal(readFileSync(victim, "utf8"), "mine\n");
  t.end();
});

t.test("a folder that is removed while the service runs does not end it", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-log-"));
  const log = openLogFile(join(folder, "dev.log"));
  rmSync(folder, { recursive: true });
  t.doesNotThrow(() => log.write("line\n"));
  t.end();
});

t.test("a repository is named after its folder, in the characters of code hosts", (t) => {
  const names = ["/a/project", "/a/My Project!", "/a/..x", "/a/.git", "/", "/a/é"].map(toRepositoryName);
  t.same(names, ["local/project", "local/My-Project-", "local/.x", "local/repository", "local/repository", "local/-"]);
  t.end();
});

t.test("the example agent's note is named after the task", (t) => {
  const names = ["The tests fail", "Où est-ce ?", "../../etc/passwd", "???", "日本語"].map(toNotePath);
  t.same(
    names,
    ["the-tests-fail", "ou-est-ce", "etc-passwd", "task", "日本語"].map((name) => `signalbox-notes/${name}.md`),
  );
  t.end();
});

t.test("the local person has git's address, or one of this machine", (t) => {
  const checkout = { top: "/a", branch: "main", name: null };
  t.equal(toLocalEmail({ ...checkout, email: "Ada@Example.com" }), "ada@example.com");
  for (const email of [null, "root@localhost", ""])
    t.match(toLocalEmail({ ...checkout, email }), /@signalbox\.localhost$/);
  t.end();
});

t.test("a refusal of the service is explained with its detail, and a bug keeps its stack", async (t) => {
  const refusal = {
    refused: "too-many-requests",
    detail: "Too many links were requested.",
    retryAfterSeconds: 60,
  } as const;
  await t.rejects(explained(Promise.reject(new Refused(refusal))), new CommandError("Too many links were requested."));
  const bug = new Error("A bug");
  t.equal(await explained(Promise.reject(bug)).catch((error: unknown) => error), bug);
});

t.test("the last port is taken again, and the next free one where it is taken, unless one is given", async (t) => {
  // No other process takes ports of this address, so the port stays free once the server is closed.
  const HOST = "127.0.0.3";
  const server = createServer().listen(0, HOST);
  await once(server, "listening");
  t.teardown(() => server.close());
  const address = server.address();
  const taken = address === null || typeof address === "string" ? 0 : address.port;
  const read = (port: string | undefined, env = {}) =>
    readSettings({ ...processTerminal(), env: { HOST, ...env } }, { dataFolder: "/none", port });
  const free = read(undefined);
  const settings = { ...free, config: { ...free.config, port: taken } };
  const next = await choosePort(settings, taken);
  t.ok(next > taken && next < taken + 20, "a later one");
  t.equal(await choosePort({ ...free, config: { ...free.config, port: 65_535 } }, null), 65_535);
  t.equal(await choosePort(read(String(taken)), null), taken);
  t.equal(await choosePort(read(undefined, { PORT: String(taken) }), null), taken);
  server.close();
  await once(server, "close");
  t.equal(await choosePort(settings, taken), taken);
});

t.test("it answers for the names of this machine and of BASE_URL alone", (t) => {
  const { config } = readSettings({ ...processTerminal(), env: {} }, { dataFolder: "/none", port: undefined });
  const admits = admitLocalHosts({ ...config, baseUrl: "https://box.example.com" });
  for (const host of ["localhost", "127.0.0.1:8787", "127.9.9.9", "[::1]:1", "box.example.com", "Box.Example.Com"])
    t.ok(admits(host), host);
  const others = [
    "",
    "example.com",
    "box.example.com:8787",
    "a@localhost",
    "localhost:",
    "localhost, x",
    "[::1",
    "::1",
  ];
  for (const host of [undefined, ...others]) t.notOk(admits(host), host ?? "no header");
  t.notOk(admitLocalHosts({ ...config, baseUrl: null })("box.example.com"));
  t.end();
});
