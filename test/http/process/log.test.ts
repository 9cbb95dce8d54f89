import { execFile } from "node:child_process";
import { promisify } from "node:util";
import t from "tap";
import { createLog } from "../../../http/process/log.js";
import { StoreError } from "../../../storage/store.js";
import { startTestService } from "../../support/service.js";

function keptLog(level: "debug" | "info" | "error" | "silent") {
  const lines: Record<string, unknown>[] = [];
  const log = createLog(level, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}

t.test("no secret, token or cookie that passes through the service is in its log", async (t) => {
  const service = await startTestService(t, { settings: { LOG_LEVEL: "debug", SMTP_URL: "smtp://127.0.0.1:1" } });
  const canary = (name: string) => `canary-${name}-0123456789abcdefghij`;
  const { anonymous } = service;
  const headers = {
    authorization: `Bearer ${canary("bearer")}`,
    cookie: `session=${canary("cookie")}; other=${canary("other-cookie")}`,
    "idempotency-key": canary("key"),
    "x-anything": canary("header"),
  };
  await anonymous.request("GET", `/api/resources/teams/${canary("id")}?q=${canary("query")}`, undefined, headers);
  await anonymous.request("GET", `/${canary("path")}`, undefined, headers);
  await anonymous.request("POST", "/api/sessions", { token: canary("token") }, headers);
  await anonymous.request("POST", "/api/sessions", `{"token":"${canary("broken")}`, headers);
  await anonymous.request("POST", "/api/sign-in", { email: "ada@example.com", [canary("field")]: 1 }, headers);
  await anonymous.request("POST", "/api/sign-in", { email: "ada@example.com" });
  await service.logged(/a mail was not sent/);
  t.match((await anonymous.request("GET", "/metrics")).text, /^signalbox_mails_total\{fate="failed"\} 1$/m);
  const socket = anonymous.socket(`/api/runner?q=${canary("socket-query")}`, headers);
  await new Promise((resolve) => socket.once("error", resolve));
  await service.stop();
  const all = service.logLines.join("\n");
  t.match(all, /"route":"\/api\/sessions"/, "requests are logged");
  t.notMatch(all, /canary/);
  t.notMatch(all, /\/sign-in\/[\w-]{20}/);
});

t.test("a person's work leaves none of their credentials in the log", async (t) => {
  const service = await startTestService(t, { settings: { LOG_LEVEL: "debug" } });
  const ada = await service.signIn("ada@example.com");
  const cookie = (ada.credentials.cookie ?? "").replace("session=", "");
  const workspace = await ada.create("/api/resources/workspaces", { slug: "acme", name: "Acme" });
  await ada.create(`/api/resources/workspaces/${workspace.id}/secrets`, {
    name: "deploy",
    value: "canary-secret-value",
    valueVersion: 1,
    hosts: [],
  });
  const issued = await ada.request(
    "POST",
    `/api/resources/workspaces/${workspace.id}/tokens`,
    { name: "ci", scopes: ["read"] },
    { "idempotency-key": "k" },
  );
  const token = issued.headers["service-workspace-token"] ?? "";
  t.match(token, /^[\w-]{43}$/);
  await service.withToken(token).request("GET", `/api/resources/workspaces/${workspace.id}`);
  await service.stop();
  const all = service.logLines.join("\n");
  for (const secret of [cookie, token, "canary-secret-value"]) t.notOk(all.includes(secret));
});

t.test("an error is logged by its name and place, not by its message, which may repeat a request", async (t) => {
  const { log, lines } = keptLog("info");
  const inner = new TypeError("canary one");
  log.failed("req_1", new Error("canary two", { cause: inner }));
  log.error("a turn crashed", { actor: "~/account/a", error: new RangeError("canary three") });
  log.failed("req_2", "canary four");
  t.notMatch(JSON.stringify(lines), /canary/);
  t.match(lines, [
    { msg: "request failed", requestId: "req_1", error: { name: "Error", at: [/^at /], cause: { name: "TypeError" } } },
    { msg: "a turn crashed", actor: "~/account/a", error: { name: "RangeError", at: [/log\.test/] } },
    { msg: "request failed", requestId: "req_2", error: { name: "string" } },
  ]);
});

t.test("the store's own messages are logged completely", async (t) => {
  const { log, lines } = keptLog("info");
  log.error("stopped", { error: new StoreError("disk-full", "the disk of /data is full") });
  t.match(lines, [{ error: { code: "disk-full", message: "the disk of /data is full" } }]);
});

t.test("requests are logged at debug level, failed ones at info level too", async (t) => {
  const served = { requestId: "req_1", method: "GET", route: "/a/{id}", seconds: 0.0012, isCut: false };
  const quiet = keptLog("info");
  quiet.log.served({ ...served, status: 200 });
  quiet.log.served({ ...served, status: 500 });
  t.match(quiet.lines, [{ level: "warn", requestId: "req_1", route: "/a/{id}", status: 500, ms: 1.2 }]);
  t.equal(quiet.lines.length, 1);
  const close = keptLog("debug");
  close.log.served({ ...served, status: 200 });
  t.equal(close.lines.length, 1);
});

t.test("a damaged row fails a request once as an error, and then at debug level", async (t) => {
  const { log, lines } = keptLog("info");
  const damage = (...key: string[]) => new StoreError("damaged", "a row is damaged", { key });
  for (let n = 0; n < 5; n++) log.failed("req_1", damage("ws_1", "row", "task", "a"));
  t.match(lines.splice(0), [{ level: "error", requestId: "req_1", error: { code: "damaged" } }]);
  log.failed("req_2", damage("ws_1", "row", "task", "b"));
  log.failed("req_3", new StoreError("damaged", "the format is damaged"));
  log.failed("req_4", new StoreError("damaged", "the format is damaged"));
  for (let n = 0; n < 2; n++) log.failed("req_5", new StoreError("failed", "the disk does not answer"));
  t.same(
    lines.map(({ requestId }) => requestId),
    ["req_2", "req_3", "req_5", "req_5"],
    "what is no damage is told each time",
  );
  const served = { method: "GET", route: "/a/{id}", status: 503, seconds: 0.001, isCut: false };
  for (const requestId of ["req_6", "req_7"]) {
    log.failed(requestId, damage("ws_1", "row", "task", "c"));
    log.served({ ...served, requestId });
  }
  t.match(lines.slice(4), [
    { level: "error", requestId: "req_6" },
    { level: "warn", requestId: "req_6" },
  ]);
  t.equal(lines.length, 6, "nor is the answer told again");
  const close = keptLog("debug");
  for (let n = 0; n < 2; n++) close.log.failed("req_1", damage("ws_1", "row", "task", "a"));
  t.match(close.lines, [{ level: "error" }, { level: "debug" }]);
});

t.test("damaged rows without end do not fill the log", async (t) => {
  const { log, lines } = keptLog("info");
  for (let n = 0; n < 1_100; n++) log.failed("req_1", new StoreError("damaged", "a", { key: ["ws_1", `${n}`] }));
  t.equal(lines.length, 1_000);
});

t.test("a mail that nobody sends is written at every level, or nobody could sign in", async (t) => {
  for (const level of ["error", "silent", "info"] as const) {
    const { log, lines } = keptLog(level);
    log.mail("sign-in link for a@b.c: https://x/sign-in/y");
    t.match(lines, [{ msg: "sign-in link for a@b.c: https://x/sign-in/y" }]);
  }
});

t.test("the last lines before the end of the process are written, in order", async (t) => {
  const module = JSON.stringify(new URL("../../../http/process/log.js", import.meta.url));
  const program = `import { createLog } from ${module};
    const log = createLog("info");
    for (let n = 0; n < 50; n += 1) log.info(String(n));
    process.exit(0);`;
  const wanted = Array.from({ length: 50 }, (_, n) => String(n));
  // The output of another thread arrives late only sometimes, so try several times.
  for (let tries = 0; tries < 10; tries += 1) {
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
    const lines = stdout.trimEnd().split("\n");
    t.same(
      lines.map((line) => JSON.parse(line).msg),
      wanted,
    );
  }
});

t.test("readable lines have the level's name and the time", async (t) => {
  const module = JSON.stringify(new URL("../../../http/process/log.js", import.meta.url));
  const program = `import { createLog, openReadable } from ${module};
    createLog("info", await openReadable()).warn("runner lost", { runnerId: "runner_1" });`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
  t.match(stdout, /^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\] WARN: runner lost\n +runnerId: "runner_1"\n$/);
});

t.test("whole numbers beyond 2^53 are logged with all their digits", async (t) => {
  const lines: string[] = [];
  const log = createLog("info", { write: (line: string) => void lines.push(line) });
  log.warn("seen", { id: 2n ** 53n + 1n, deep: { ids: [-(2n ** 64n) - 1n] } });
  t.match(lines[0], /"id":9007199254740993,"deep":\{"ids":\[-18446744073709551617\]\}/);
});
