import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { CodeHost } from "../../http/demo/code-host/code-host.js";
import { startCodeHost } from "./code-host.js";
import { adaThere, bobThere, install } from "./code-host-scene.js";
import { until } from "./until.js";

/** These tests check that the tests' code host behaves as the real code host's documentation describes. */

const run = promisify(execFile);

async function open(t: Test) {
  const host = await startCodeHost(t);
  install(host, 7);
  host.repositories.set(7, ["acme-inc/app", "acme-inc/other"]);
  const app = await host.work.addRepository("acme-inc/app", { "a.txt": "one\n" });
  await host.work.addRepository("acme-inc/other");
  return { host, app };
}

function caller(host: CodeHost, token: string) {
  return async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const sent = await fetch(`${host.origin}/api/v3${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await sent.text();
    return { status: sent.status, body: text === "" ? null : JSON.parse(text), headers: sent.headers };
  };
}

t.test("a pull request: opened once, found by its head, changed files, merged; told as events", async (t) => {
  const { host, app } = await open(t);
  const ask = caller(host, host.installationToken(7));
  await app.commit({ branch: "fix", files: { "a.txt": "two\n", "b.txt": "new\n" } });
  const wish = { title: "Fix", head: "fix", base: "main", body: "why" };
  const opened = await ask("POST", "/repos/acme-inc/app/pulls", wish);
  t.match(opened, { status: 201, body: { number: 1, state: "open", mergeable_state: "clean", changed_files: 2 } });
  const again = await ask("POST", "/repos/acme-inc/app/pulls", wish);
  t.match(again, { status: 422, body: { errors: [{ message: "A pull request already exists for acme-inc:fix." }] } });
  const listed = await ask("GET", "/repos/acme-inc/app/pulls?head=acme-inc:fix&state=all");
  t.match(listed.body, [{ number: 1, head: { ref: "fix" } }]);
  t.same((await ask("GET", "/repos/acme-inc/app/pulls?head=acme-inc:other")).body, []);
  const files = await ask("GET", "/repos/acme-inc/app/pulls/1/files?per_page=1");
  t.match(files.body, [{ filename: "a.txt", status: "modified" }]);
  t.match(files.headers.get("link"), /page=2>; rel="next"/);
  const etag = String((await ask("GET", "/repos/acme-inc/app/pulls/1")).headers.get("etag"));
  t.equal((await ask("GET", "/repos/acme-inc/app/pulls/1", undefined, { "if-none-match": etag })).status, 304);
  const [pull] = host.work.pulls;
  if (pull === undefined) throw new Error("nothing was opened");
  const merge = await host.work.merge(pull, adaThere);
  t.match((await ask("GET", "/repos/acme-inc/app/pulls/1")).body, { merged: true, merge_commit_sha: merge });
  t.same(
    host.work.events.map(({ event, payload }) => `${event} ${payload.action ?? payload.ref}`),
    ["pull_request opened", "pull_request closed", "push refs/heads/main"],
  );
});

t.test("a token reaches its repositories, with its permissions, over git too", async (t) => {
  const { host, app } = await open(t);
  const repositories = ["app"];
  const reading = caller(host, host.installationToken(7, { repositories, permissions: { pull_requests: "read" } }));
  t.equal((await reading("GET", "/repos/acme-inc/app/pulls")).status, 200);
  t.equal((await reading("POST", "/repos/acme-inc/app/pulls", {})).status, 403);
  t.equal((await reading("GET", "/repos/acme-inc/other")).status, 404);
  const folder = await mkdtemp(join(tmpdir(), "signalbox-push-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const at = (token: string, name = "app") =>
    `${host.origin.replace("//", `//x-access-token:${token}@`)}/acme-inc/${name}.git`;
  const git = (...args: string[]) =>
    run("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...args], { cwd: folder });
  const pushing = host.installationToken(7, { repositories, permissions: { contents: "write" } });
  await git("clone", "--quiet", at(pushing), ".");
  await writeFile(join(folder, "a.txt"), "two\n");
  await git("commit", "--quiet", "-am", "two");
  await git("push", "--quiet", at(pushing), "HEAD:refs/heads/fix");
  t.match(await app.files((await app.head("fix")) ?? ""), { "a.txt": "two" });
  // The host sends the event after it has answered the push.
  await until("the push is told", () => host.work.events.length > 0);
  t.match(host.work.events.at(-1), { event: "push", payload: { ref: "refs/heads/fix", installation: { id: 7 } } });
  const onlyRead = host.installationToken(7, { repositories, permissions: { contents: "read" } });
  for (const address of [at(onlyRead), at(pushing, "other"), at("ghs_none")]) {
    await t.rejects(git("push", "--quiet", address, "HEAD:refs/heads/other"));
  }
  await git("checkout", "--quiet", "-b", "flows");
  await run("mkdir", ["-p", join(folder, ".github/workflows")]);
  await writeFile(join(folder, ".github/workflows/ci.yml"), "on: push\n");
  await git("add", ".");
  await git("commit", "--quiet", "-m", "flow");
  await t.rejects(git("push", "--quiet", at(pushing), "HEAD:refs/heads/flows"), { message: /without workflows/ });
  const flows = host.installationToken(7, { repositories, permissions: { contents: "write", workflows: "write" } });
  await git("push", "--quiet", at(flows), "HEAD:refs/heads/flows");
  t.throws(() => host.installationToken(7, { repositories: ["none"] }));
});

t.test("an answer may be lost after it acted, or replaced once; deliveries may be sent again", async (t) => {
  const { host, app } = await open(t);
  const ask = caller(host, host.installationToken(7));
  await app.commit({ branch: "fix", files: { "a.txt": "two\n" } });
  host.onceFaults.push({ on: /POST .*pulls$/, fault: "lose" });
  await t.rejects(ask("POST", "/repos/acme-inc/app/pulls", { title: "Fix", head: "fix", base: "main" }));
  t.match(host.work.pulls, [{ number: 1, title: "Fix" }]);
  const limited = { "retry-after": "60", "x-ratelimit-remaining": "0" };
  host.onceFaults.push({ on: /GET/, fault: { status: 429, headers: limited } });
  const statuses = [await ask("GET", "/repos/acme-inc/app"), await ask("GET", "/repos/acme-inc/app")];
  t.same(
    statuses.map(({ status }) => status),
    [429, 200],
  );
  const [pull] = host.work.pulls;
  if (pull === undefined) throw new Error("nothing was opened");
  await host.work.review(pull, { state: "CHANGES_REQUESTED", by: bobThere });
  for (const event of host.work.events) t.equal(await host.hooks.send(event), 0, "there is nobody to send to");
  t.same(
    host.hooks.attempts.map(({ event }) => event.event),
    ["pull_request", "pull_request_review"],
  );
});

t.test("it takes a bare repository that is there, and leaves it where its folder was given", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-given-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const first = await CodeHost.start(Date.now, folder);
  const made = await first.work.addRepository("acme-inc/app", { "a.txt": "one\n" });
  await made.git("branch", "--move", "main", "trunk");
  await made.git("symbolic-ref", "HEAD", "refs/heads/trunk");
  await first.close();
  const host = await CodeHost.start(Date.now, folder);
  t.teardown(() => host.close());
  const app = await host.work.adopt("acme-inc/app");
  t.equal(app.defaultBranch, "trunk");
  const change = { branch: "fix", files: { "a.txt": "two\n" }, by: adaThere };
  await host.work.push(app, change);
  const pull = await host.work.open(app, { title: "Fix", head: "fix", base: "trunk", by: adaThere });
  const merge = await host.work.merge(pull, adaThere);
  t.same(await app.files(merge ?? ""), { "a.txt": "two" });
});
