import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { toOwnDevFolder } from "../../../../http/cli/command/places.js";
import { startTime } from "../../../../http/wire/process-start.js";
import { openCommandScene, testCommands } from "../../../support/command-cases.js";
import { startTestService } from "../../../support/service.js";
import { openSignalbox } from "../../../support/signalbox.js";
import { accountCases } from "./account-cases.js";

t.test("every command of identity", async (t) => testCommands(t, await openCommandScene(t), accountCases));

t.test("a person pastes the link of the mail, and the session is kept for the owner alone", async (t) => {
  const service = await startTestService(t);
  const { home, run } = openSignalbox(t);
  const asked = await run(["login", service.baseUrl], { answers: ["ada@example.com"] });
  t.equal(asked.code, 130, "nothing was pasted");
  t.match(asked.err, /sent a sign-in link to ada@example\.com/);
  const link = `${service.baseUrl}/sign-in/${await service.linkFor("ada@example.com")}`;
  const { code, out } = await run(["login", service.baseUrl, "--email", "ada@example.com"], { answers: [link] });
  t.same([code, out], [0, `signed in to ${service.baseUrl} as ada@example.com`]);
  const kept = join(home, ".config/signalbox/logins.json");
  t.equal(statSync(kept).mode & 0o777, 0o600);
  t.match(JSON.parse(readFileSync(kept, "utf8")), { current: service.baseUrl });
  t.match(await run(["whoami"]), { code: 0, out: /you|ada/ });
  t.equal((await run(["logout"])).code, 0);
  t.match(await run(["whoami"]), { code: 3, err: /no service is configured/ });
});

t.test("without a terminal nothing is asked, and what to give instead is named", async (t) => {
  const service = await startTestService(t);
  const { run } = openSignalbox(t);
  t.match(await run(["login", service.baseUrl]), { code: 64, err: /standard input is not a terminal: use --email/ });
  t.match(await run(["login"]), { code: 64, err: /give the address of the service/ });
  for (const user of ["ada:secret", ":secret"]) {
    const { code, err } = await run(["login", `http://${user}@127.0.0.1:1`]);
    t.equal(code, 64, user);
    t.notMatch(err, /secret/, "an address may hold a password");
  }
});

t.test("a program signs in with a token, from standard input or the environment", async (t) => {
  const { service, signalbox, person, workspaceId } = await openCommandScene(t);
  const path = `/api/resources/workspaces/${workspaceId}/tokens`;
  const { headers } = await person.request("POST", path, { name: "ci", scopes: ["read"] }, { "idempotency-key": "1" });
  const token = headers["service-workspace-token"] ?? "";
  const { run } = openSignalbox(t);
  t.match(await run(["login", service.baseUrl, "--token", "-"], { input: `${token}\n` }), {
    code: 0,
    out: /with a token$/,
  });
  t.match(await run(["whoami"]), { code: 0, out: /person +a workspace token\nworkspaces +acme/ });
  const { run: runElsewhere } = openSignalbox(t);
  const env = { SIGNALBOX_URL: service.baseUrl, SIGNALBOX_TOKEN: token };
  t.match(await runElsewhere(["whoami", "--json"], { env }), { code: 0, out: /"isToken": true/ });
  t.match(await runElsewhere(["whoami"], { env: { ...env, SIGNALBOX_TOKEN: "wrong" } }), {
    code: 3,
    err: /\nUnset SIGNALBOX_TOKEN and run signalbox login\.$/,
  });
  t.match(await runElsewhere(["whoami", "--url", service.baseUrl, "--token", "wrong"]), {
    code: 3,
    err: /\nOmit --token and run signalbox login\.$/,
  });
  t.match(await runElsewhere(["whoami", "--url", service.baseUrl]), {
    code: 3,
    err: /^error: you are not signed in to http:\S+\nRun signalbox login to sign in, or set SIGNALBOX_TOKEN\.$/,
  });
  const alone = await service.linkFor("grace@example.com");
  await runElsewhere(["login", service.baseUrl, "--link", alone]);
  t.match(await runElsewhere(["use", "core"]), {
    code: 1,
    err: /you are in no workspace: run signalbox init, or ask for an invite$/,
  });
  t.equal((await signalbox.run(["whoami"])).code, 0);
});

t.test("names: the only team is the default, another is named, and what does not exist is said", async (t) => {
  const { signalbox, person, workspaceId } = await openCommandScene(t);
  t.match(await signalbox.run(["use", "none"]), {
    code: 1,
    err: /there is no team none in the workspace acme; it has: core/,
  });
  t.match(await signalbox.run(["use", "other/core"]), {
    code: 1,
    err: /there is no workspace other, or you are not in it; you are in: acme$/,
  });
  await person.create(`/api/resources/workspaces/${workspaceId}/teams`, { key: "web", name: "Web" });
  t.match(await signalbox.run(["use", "web"]), { code: 0, out: "default team of this folder: acme/web" });
});

t.test(
  "the sign-in of a signalbox dev that does not answer is noted at login, and logout removes the credential",
  async (t) => {
    const { service, signalbox } = await openCommandScene(t);
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-silent-dev-")));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const own = toOwnDevFolder({ env: { HOME: signalbox.home } }, folder);
    const kept = join(own, "login.json");
    mkdirSync(own, { recursive: true });
    const running = { pid: process.pid, started: startTime(process.pid) };
    writeFileSync(kept, JSON.stringify({ url: "http://127.0.0.1:1", cookie: "session=1", process: running }));
    const run = (...args: string[]) => signalbox.run(args, { folder });
    const link = await service.linkFor("ada@example.com");
    const noted = `commands in this folder still use signalbox dev: pass --url ${service.baseUrl} to use this service`;
    t.match(await run("login", service.baseUrl, "--link", link), { code: 0, err: noted });
    const away =
      /cannot reach http:\/\/127\.0\.0\.1:1: is the service running\? \(start a local one with signalbox dev\)$/;
    t.match(await run("whoami"), { code: 3, err: away });
    t.match(await run("logout"), { code: 0, out: "signed out of http://127.0.0.1:1", err: /cannot reach/ });
    t.same(JSON.parse(readFileSync(kept, "utf8")), { url: "http://127.0.0.1:1", process: running });
    t.match(await run("whoami"), {
      code: 3,
      err: "you are signed out: sign in with signalbox login http://127.0.0.1:1",
    });
    t.match(await run("whoami", "--url", service.baseUrl), { code: 0, out: `service       ${service.baseUrl}` });
  },
);

t.test("defaults that cannot be saved are noted once, and the command does its work", async (t) => {
  const { service, person, workspaceId } = await openCommandScene(t);
  const path = `/api/resources/workspaces/${workspaceId}/tokens`;
  const { headers } = await person.request("POST", path, { name: "ci", scopes: ["read"] }, { "idempotency-key": "1" });
  const { home, run } = openSignalbox(t);
  symlinkSync(join(home, "none/none"), join(home, "config"));
  const env = {
    XDG_CONFIG_HOME: join(home, "config"),
    SIGNALBOX_URL: service.baseUrl,
    SIGNALBOX_TOKEN: String(headers["service-workspace-token"]),
  };
  const { code, out, err } = await run(["use", "acme/core"], { env });
  t.same([code, out], [0, "default team of this folder: acme/core"]);
  t.match(err, /^cannot save the defaults of this folder for later commands: .*\n?$/);
});
