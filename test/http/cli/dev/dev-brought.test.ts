import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { join } from "node:path";
import t, { type Test } from "tap";
import { startTime } from "../../../../http/wire/process-start.js";
import { type DevScene, openDevScene, openTask, ownFolder, statusOf } from "../../../support/dev-scene.js";
import { inRepository } from "../../../support/repository.js";

/** This test process, in the form that a sign-in file stores. */
const RUNNING = { pid: process.pid, started: startTime(process.pid) };

/**
 * Commits all files of a repository, including files that git ignores, and clones the repository. Returns the folder of
 * the clone.
 */
function cloneOf({ repository }: DevScene): string {
  inRepository(repository, "add", "--force", ".");
  inRepository(repository, "commit", "--quiet", "--message", "Bring");
  const clone = join(repository, "../clone");
  inRepository(repository, "clone", "--quiet", repository, clone);
  return clone;
}

/** Starts a server that records the credentials of all requests. Returns the server's address and the credentials. */
async function startThief(t: Test) {
  const received: unknown[] = [];
  const server = createServer(({ url, headers: { authorization, cookie } }, response) => {
    received.push([url, authorization, cookie]);
    response.writeHead(202, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  const address = server.address();
  const port = address === null || typeof address === "string" ? 0 : address.port;
  return { url: `http://127.0.0.1:${port}`, received };
}

t.test("a committed sign-in selects no service and gets no credential", async (t) => {
  const scene = openDevScene(t);
  const thief = await startThief(t);
  mkdirSync(join(scene.repository, ".signalbox"));
  const login = JSON.stringify({ url: thief.url, cookie: "session=x", token: "x", process: RUNNING });
  writeFileSync(join(scene.repository, ".signalbox/login.json"), login);
  const folder = cloneOf(scene);
  const env = { SIGNALBOX_TOKEN: "secret" };
  t.match(await scene.run(["task", "list"], { folder }), { code: 3, err: /no service is configured/ });
  t.match(await scene.run(["task", "list"], { folder, env }), {
    code: 3,
    err: /a token needs the address of its service/,
  });
  t.match(await scene.run(["task", "list", "--token", "x"], { folder }), { code: 3 });
  t.match(await scene.run(["login", "--email", "ada@example.com"], { folder }), { code: 64, err: /give the address/ });
  t.same(thief.received, []);
});

t.test("a token never goes to the service of dev by default", async (t) => {
  const scene = openDevScene(t);
  const dev = await scene.start();
  const env = { SIGNALBOX_TOKEN: "secret" };
  t.match(await scene.run(["whoami"], { env }), { code: 3, err: /a token needs the address/ });
  t.match(await scene.run(["whoami", "--token", "secret"]), { code: 3, err: /a token needs the address/ });
  t.match(await scene.run(["whoami"], { env: { ...env, SIGNALBOX_URL: dev.url } }), {
    code: 3,
    err: /signalbox login/,
  });
  const thief = await startThief(t);
  await scene.run(["whoami"], { env: { ...env, SIGNALBOX_URL: thief.url } });
  t.match(thief.received, [["/api/resources/workspaces", "Bearer secret", undefined]], "an address that was given");
});

t.test("a committed store is refused, and its tasks do not run", async (t) => {
  const scene = openDevScene(t);
  const dev = await scene.start("--command", "sleep", "1");
  // Open more tasks than can run at the same time, so that one task is still queued in the store.
  await Promise.all(["one", "two", "three"].map((name) => openTask(dev, `Run ${name}`)));
  await dev.end();
  const folder = cloneOf(scene);
  const agent = ["--command", "touch", join(folder, "ran")];
  for (const args of [[], ["--reset", "--yes"]]) {
    const ran = await scene.run(["dev", ...args, ...agent], { folder, env: { PORT: "0" } });
    t.match(ran, { code: 1, err: /git tracks files in \.signalbox.*git rm -r \.signalbox/ });
  }
  inRepository(folder, "mv", ".signalbox", ".Signalbox");
  t.match(
    await scene.run(["dev", ...agent], { folder }),
    { code: 1, err: /git tracks files/ },
    "names in another case",
  );
  inRepository(folder, "mv", ".Signalbox", ".signalbox");
  inRepository(folder, "rm", "-r", "--quiet", "--cached", ".signalbox");
  const ran = await scene.run(["dev", ...agent], { folder, env: { PORT: "0" } });
  t.match(ran, { code: 1, err: /did not make .*clone\/\.signalbox for this folder.*signalbox dev --reset/ });
  t.notOk(existsSync(join(folder, "ran")));
});

t.test("a copied or moved repository is refused until its data is reset; the original continues", async (t) => {
  const scene = openDevScene(t);
  const dev = await scene.start();
  const taskId = await openTask(dev, "Old");
  await dev.end();
  const { repository, signalbox } = scene;
  const copy = join(repository, "../copy");
  cpSync(repository, copy, { recursive: true, verbatimSymlinks: true });
  writeFileSync(join(copy, ".signalbox/kept.txt"), "of the person\n");
  const start = (...args: readonly string[]) => scene.run(["dev", "--port", "0", ...args], { folder: copy });
  t.match(await start(), { code: 1, err: /the repository was copied or moved.*--reset/ });
  t.ok(existsSync(join(copy, ".signalbox/data")), "nothing is removed");
  t.match(await start("--reset", "--yes"), { code: 0 });
  t.match(await start(), { code: 0 });
  t.ok(existsSync(join(copy, ".signalbox/kept.txt")));
  const again = await scene.start();
  t.equal((await again.client.get("/api/tasks/{taskId}", { path: { taskId } })).title, "Old");
  await again.end();
  rmSync(ownFolder({ signalbox, repository }), { recursive: true });
  t.match(await scene.run(["dev"]), { code: 1, err: /--reset/ }, "the folder of the person decides");
});

t.test("links in .signalbox are not followed", async (t) => {
  const scene = openDevScene(t);
  const { repository, run } = scene;
  const victim = join(repository, "../victim");
  mkdirSync(victim);
  writeFileSync(join(victim, "profile"), "mine\n", { mode: 0o644 });
  const folder = join(repository, ".signalbox");
  const refuses = async (path: string, target: string) => {
    symlinkSync(target, path);
    for (const args of [[], ["--reset", "--yes"]]) {
      const ran = await run(["dev", "--port", "0", ...args]);
      t.match(ran, { code: 1, err: /is a symbolic link, which signalbox dev does not follow: delete it/ }, path);
    }
    t.ok(lstatSync(path).isSymbolicLink());
    rmSync(path);
  };
  await refuses(folder, victim);
  t.equal((await run(["dev", "--port", "0"])).code, 0);
  for (const name of ["dev.log.1", "data/link", "repositories", "mark", "dev.json", "dev.log", "data"]) {
    rmSync(join(folder, name), { recursive: true, force: true });
    await refuses(join(folder, name), name === "data" || name === "repositories" ? victim : join(victim, "profile"));
  }
  t.equal(readFileSync(join(victim, "profile"), "utf8"), "mine\n");
  t.equal(lstatSync(join(victim, "profile")).mode & 0o777, 0o644);
  writeFileSync(join(folder, "data"), "");
  t.match(await run(["dev"]), { code: 1, err: /data is not a folder: delete it/ });
});

t.test("each start has its own session; a stopped service's sign-in is not used", async (t) => {
  const scene = openDevScene(t);
  const { run } = scene;
  const login = join(ownFolder(scene), "login.json");
  const dev = await scene.start();
  const first = JSON.parse(readFileSync(login, "utf8"));
  // Get a cookie before `dev` ends normally below. The test later writes this cookie into files, as if the process had
  // been killed.
  const link = /\/sign-in\/([\w-]+)/.exec(dev.lines[0] ?? "")?.[1] ?? "";
  const { headers } = await dev.client.send("post", "/api/sessions", { body: { token: link } });
  const cookie = headers.getSetCookie()[0]?.split(";")[0] ?? "";
  await dev.end();
  t.notOk(existsSync(login));
  const stopped = `error: signalbox dev is not running in ${scene.repository}: start it again, or pass --url`;
  t.match(await run(["whoami"]), { code: 3, err: stopped });
  mkdirSync(join(scene.repository, "sub"));
  t.match(await run(["whoami"], { folder: join(scene.repository, "sub") }), { code: 3, err: stopped });
  const thief = await startThief(t);
  for (const ended of [
    { pid: 2 ** 30, started: null },
    { ...RUNNING, started: "1" },
  ]) {
    writeFileSync(login, JSON.stringify({ url: thief.url, cookie, process: ended }));
    t.match(await run(["whoami"]), { code: 3, err: stopped });
  }
  t.same(thief.received, [], "another program listens at the address of the killed process");
  const { client, url } = await scene.start();
  const read = async (of: string) => (await fetch(`${url}/api/sessions/me`, { headers: { cookie: of } })).status;
  t.same([await read(first.cookie), await read(cookie)], [401, 401], "both earlier sessions have ended");
  t.equal(await statusOf(client.get("/api/sessions/me")), null);
});

t.test("login and logout change the sign-in that commands in the folder use", async (t) => {
  const scene = openDevScene(t);
  const { run } = scene;
  const dev = await scene.start();
  const link = /(http:\S+)/.exec(dev.lines[0] ?? "")?.[1] ?? "";
  await dev.client.delete("/api/sessions");
  t.match(await run(["whoami"]), { code: 3, err: /signalbox login/ });
  t.match(await run(["login", "--link", link]), { code: 0, out: `signed in to ${dev.url} as ada@example.com` });
  t.match(await run(["whoami"]), { code: 0, out: /Ada Lovelace/ });
  t.match(await run(["logout"]), { code: 0 });
  const signedOut = `error: you are signed out: sign in with signalbox login ${dev.url} --link <the link that dev printed>`;
  for (const args of [["whoami"], ["logout"], ["whoami", "--url", dev.url]]) {
    t.match(await run(args), { code: 3, err: signedOut }, args.join(" "));
  }
  t.match(await run(["dev", "--port", "0"]), { code: 1, err: `already runs here, at ${dev.url}` });
  t.equal((await dev.end()).code, 0);
  t.notOk(existsSync(join(ownFolder(scene), "login.json")));
});

t.test("where dev was started, commands do not reach a service of an earlier sign-in", async (t) => {
  const scene = openDevScene(t);
  const { repository, run } = scene;
  const thief = await startThief(t);
  const config = join(scene.signalbox.home, ".config/signalbox/logins.json");
  mkdirSync(join(config, ".."), { recursive: true });
  const other = { url: thief.url, cookie: "session=x" };
  writeFileSync(config, JSON.stringify({ current: thief.url, logins: { [thief.url]: other } }));
  const dev = await scene.start();
  await run(["logout"]);
  t.match(await run(["task", "list"]), { code: 3, err: `signed out: sign in with signalbox login ${dev.url} --link` });
  await dev.end();
  const sub = join(repository, "sub");
  mkdirSync(sub);
  const stopped = `error: signalbox dev is not running in ${repository}: start it again, or pass --url to use another service`;
  for (const folder of [repository, sub]) {
    t.match(await run(["task", "list"], { folder }), { code: 3, err: stopped });
    t.match(await run(["logout"], { folder }), { code: 3, err: stopped });
    const env = { SIGNALBOX_TOKEN: "secret" };
    t.match(await run(["whoami"], { folder, env }), { code: 3, err: /a token needs the address of its service/ });
  }
  t.same(thief.received, []);
  await run(["whoami", "--url", thief.url]);
  await run(["whoami"], { env: { SIGNALBOX_URL: thief.url } });
  await run(["whoami"], { folder: join(repository, "..") });
  t.same(
    thief.received.filter((each) => Array.isArray(each) && each[0] === "/api/sessions/me"),
    Array.from({ length: 3 }, () => ["/api/sessions/me", undefined, "session=x"]),
    "an address that was given, or in another folder",
  );
});

t.test("a web page whose name leads to this machine gets no answer", async (t) => {
  const { url } = await openDevScene(t).start();
  const { port } = new URL(url);
  const read = (host: string, path = "/metrics", headers = {}): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const sent = request(`${url}${path}`, { headers: { host, ...headers } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.once("error", reject);
      sent.end();
    });
  for (const host of ["localhost", `LOCALHOST:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
    t.equal(await read(host), 200, host);
  const others = ["example.com", `example.com:${port}`, "localhost.example.com", "127.0.0.1.example.com", "0.0.0.0"];
  for (const host of others) t.equal(await read(host), 403, host);
  t.equal(await read("example.com", "/sign-in/x"), 403);
  t.equal(await read("example.com", "/none"), 403);
  const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
  const key = { "sec-websocket-key": Buffer.alloc(16).toString("base64") };
  t.equal(await read("example.com", "/api/stream", { ...upgrade, ...key }), 403);
});
