import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import { BRANCH, type PushedRun, PushScene } from "./push-scene.js";

/**
 * Tests pushes from hostile folders. A push must not run anything that an agent left in its folder, and must send the
 * token only to the code host.
 */

/** Creates a program that leaves a trace when it runs. */
function trap(scene: PushScene, name: string): string {
  const at = join(scene.workFolder, name);
  writeFileSync(
    at,
    `#!/bin/sh\n{ echo "$0 $*"; env; cat /proc/self/fd/3; } >> ${join(scene.workFolder, "sprung")}\ncat\n`,
  );
  chmodSync(at, 0o755);
  return at;
}

/** Returns git configuration that runs programs or redirects requests. */
function hostileConfig(program: string, elsewhere: string): string {
  return `
[core]
	hooksPath = ${join(program, "..")}
	fsmonitor = ${program}
	sshCommand = ${program}
	askPass = ${program}
	gitProxy = ${program}
	editor = ${program}
	pager = ${program}
	alternateRefsCommand = ${program}
	attributesFile = ${program}
	worktree = /
[credential]
	helper = ${program}
[url "${elsewhere}/"]
	insteadOf = http://
	pushInsteadOf = http://
[http]
	proxy = ${elsewhere}
	extraHeader = X-Planted: yes
	sslVerify = false
	followRedirects = true
[filter "evil"]
	clean = ${program}
	smudge = ${program}
	process = ${program}
	required = true
[diff "evil"]
	textconv = ${program}
	command = ${program}
[merge "evil"]
	driver = ${program}
[gpg]
	program = ${program}
[commit]
	gpgSign = true
[push]
	gpgSign = true
	recurseSubmodules = on-demand
[remote "origin"]
	url = ${elsewhere}/app.git
	pushurl = ${elsewhere}/app.git
	receivepack = ${program}
	uploadpack = ${program}
	vcs = evil
[submodule]
	recurse = true
[include]
	path = ${join(program, "..", "more.config")}
[alias]
	push = "!${program}"
`;
}

const HOOKS = [
  "pre-push",
  "pre-commit",
  "post-commit",
  "reference-transaction",
  "post-index-change",
  "fsmonitor-watchman",
];

/** Writes everything that an agent may write in its folder to attack the push. */
function plant(scene: PushScene, run: PushedRun, elsewhere: string): void {
  const program = trap(scene, "trap");
  const { checkout, folder } = run;
  writeFileSync(join(scene.workFolder, "more.config"), "[credential]\n\thelper = store\n");
  for (const at of [join(checkout.folder, ".git"), checkout.record]) {
    writeFileSync(
      join(at, "config"),
      `${readFileSync(join(at, "config"), "utf8")}${hostileConfig(program, elsewhere)}`,
    );
    mkdirSync(join(at, "hooks"), { recursive: true });
    for (const hook of HOOKS) symlinkSync(program, join(at, "hooks", hook));
    mkdirSync(join(at, "info"), { recursive: true });
    writeFileSync(join(at, "info/attributes"), "* filter=evil diff=evil merge=evil\n");
  }
  for (const name of [".gitconfig", ".netrc", ".git-credentials"]) {
    writeFileSync(join(folder.home, name), name === ".netrc" ? "default login a password b\n" : "");
  }
  writeFileSync(join(folder.home, ".gitconfig"), hostileConfig(program, elsewhere));
  writeFileSync(join(checkout.folder, ".gitattributes"), "* filter=evil diff=evil merge=evil ident\n");
  writeFileSync(join(checkout.folder, "a.txt"), "changed $Id$\n");
  writeFileSync(
    join(checkout.folder, ".gitmodules"),
    `[submodule "m"]\n\tpath = m\n\turl = ${elsewhere}\n\tupdate = !${program}\n`,
  );
  symlinkSync("/etc/passwd", join(checkout.folder, "link"));
  symlinkSync("/", join(checkout.folder, "root"));
  const nested = join(checkout.folder, "nested");
  mkdirSync(nested);
  execFileSync("git", ["init", "--quiet", "."], { cwd: nested });
  writeFileSync(join(nested, ".git/config"), hostileConfig(program, elsewhere));
  execFileSync("/bin/sh", [
    "-c",
    'mkfifo "$@"',
    "mkfifo",
    join(checkout.folder, "pipe"),
    join(checkout.folder, ".git/fifo"),
  ]);
  renameSync(join(checkout.folder, ".git/fifo"), join(checkout.folder, ".git/index"));
}

/** Starts a server other than the code host that records its requests. */
async function startElsewhere(
  t: Test,
): Promise<{ readonly url: string; readonly asked: readonly IncomingHttpHeaders[] }> {
  const asked: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers);
    response.writeHead(401, { "www-authenticate": 'Basic realm="give it"' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/**
 * Returns the files under a folder that contain the text. Does not use a recursive listing, which follows links in some
 * versions of Node.
 */
function holding(folder: string, text: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return holding(path, text);
    return entry.isFile() && readFileSync(path).includes(text) ? [path] : [];
  });
}

/**
 * Returns the descendants of this process. Other processes do not count: other tests may push at the same time, with
 * processes of the same names.
 */
function descendants(): ReadonlySet<string> {
  const parents = new Map(processes("status").map(({ pid, text }) => [pid, /^PPid:\s*(\d+)/m.exec(text)?.[1] ?? ""]));
  const isOurs = (pid: string): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === String(process.pid) || isOurs(parent));
  };
  return new Set([...parents.keys()].filter(isOurs));
}

/**
 * Returns each process of the machine with the text of its `/proc/<pid>/<file>`. Skips processes whose file cannot be
 * read.
 */
function processes(file: string): { readonly pid: string; readonly text: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [{ pid, text: readFileSync(`/proc/${pid}/${file}`, "utf8") }];
      } catch {
        return [];
      }
    });
}

t.test("no hook, filter, helper, driver or address of an agent is used, and only files are pushed", async (t) => {
  const scene = await PushScene.open(t);
  const elsewhere = await startElsewhere(t);
  const run = await scene.run();
  plant(scene, run, elsewhere.url);
  const token = scene.token();
  const pushed = await run.end({ token });
  t.match(pushed, { type: "run.pushed", changed: [".gitattributes", "a.txt", "link", "root"] });
  t.notOk(existsSync(join(scene.workFolder, "sprung")), "nothing of the agent's ran");
  t.same(elsewhere.asked, [], "nothing went elsewhere");
  t.match(await scene.branch(), { "a.txt": "changed $Id$", link: "/etc/passwd", root: "/" });
  t.equal(
    await scene.app.git("ls-tree", "-r", BRANCH, "--", "nested"),
    "",
    "of a repository inside only its files are taken, and it has none",
  );
  t.same(holding(scene.workFolder, token), [], "the token is in no file");
  const planted = scene.host.asked.filter((name) => /receive-pack/.test(name));
  t.ok(planted.length > 0);
});

t.test("a record, a checkout or a folder on its way that became a link is not followed", async (t) => {
  const scene = await PushScene.open(t);
  for (const of of ["checkout", "owner"] as const) {
    const run = await scene.run();
    const secret = join(scene.workFolder, `secret-${of}`);
    mkdirSync(join(secret, "app"), { recursive: true });
    for (const at of [secret, join(secret, "app")]) writeFileSync(join(at, "key.pem"), "private\n");
    const moved = of === "checkout" ? run.checkout.folder : join(run.checkout.folder, "..");
    renameSync(moved, `${moved}.was`);
    symlinkSync(secret, moved);
    t.match(await run.end(), { type: "run.push-rejected", problem: "failed" }, of);
    t.match(await run.pushes.wish({ repository: null, title: "x", body: "" }), { refused: "The run is over." });
  }
  const run = await scene.run();
  renameSync(run.checkout.record, `${run.checkout.record}.was`);
  symlinkSync("/nonexistent", run.checkout.record);
  writeFileSync(join(run.checkout.folder, "a.txt"), "changed\n");
  await run.end();
  t.notOk(JSON.stringify(await scene.branch()).includes("private"));
});

t.test(
  "during a push the token is in no command line, environment or file, and no descriptor gives it away",
  async (t) => {
    const scene = await PushScene.open(t);
    const run = await scene.run();
    writeFileSync(join(run.checkout.folder, "a.txt"), "changed\n");
    const token = scene.token();
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    scene.host.onceFaults.push({ on: /POST .*git-receive-pack/, fault: { after: held } });
    const asked = scene.host.asking(/POST .*git-receive-pack/);
    const pushing = run.end({ token });
    await asked;
    const ours = descendants();
    const gits = processes("cmdline").filter(
      ({ pid, text }) => ours.has(pid) && (text.includes(BRANCH) || text.includes("remote-http")),
    );
    t.ok(gits.length >= 2, "git is at work");
    for (const file of ["cmdline", "environ"]) {
      t.same(
        processes(file).filter(({ text }) => text.includes(token)),
        [],
        file,
      );
    }
    for (const { pid } of gits) {
      t.throws(
        () => openSync(`/proc/${pid}/fd/3`, "r"),
        { code: /ENXIO|ENOENT/ },
        "a socket cannot be opened by its name",
      );
    }
    t.same(holding(scene.workFolder, token), []);
    goOn();
    t.match(await pushing, { type: "run.pushed" });
    t.same(holding(scene.workFolder, token), []);
  },
);

t.test(
  "a redirect takes the token nowhere, and what traces git in the runner's environment is not passed on",
  async (t) => {
    const scene = await PushScene.open(t);
    const elsewhere = await startElsewhere(t);
    const run = await scene.run();
    writeFileSync(join(run.checkout.folder, "a.txt"), "changed\n");
    const trace = join(scene.workFolder, "trace");
    const names = ["GIT_TRACE", "GIT_TRACE_CURL", "GIT_TRACE2", "GIT_CURL_VERBOSE", "GIT_TRACE_PACKET"];
    for (const name of names) process.env[name] = trace;
    t.teardown(() => {
      for (const name of names) delete process.env[name];
    });
    const location = `${elsewhere.url}/acme-inc/app.git/info/refs?service=git-receive-pack`;
    scene.host.faults.set(/info\/refs/, { status: 302, headers: { location } });
    t.match(await run.end(), { type: "run.push-rejected", problem: "unreachable" });
    t.same(elsewhere.asked, []);
    scene.host.faults.clear();
    t.match(await run.order(), { type: "run.pushed" });
    t.notOk(existsSync(trace));
  },
);

t.test(
  "what pushes are made from is the runner's alone, outside the run's folder, and gone with the run",
  async (t) => {
    const scene = await PushScene.open(t);
    const run = await scene.run();
    writeFileSync(join(run.checkout.folder, "a.txt"), "changed\n");
    await run.end();
    const site = run.folder.pushSite("acme-inc/app");
    t.notOk(site.startsWith(run.folder.path));
    t.equal(statSync(site).mode & 0o077, 0);
    t.notMatch(readFileSync(join(site, "config"), "utf8"), /credential|url|helper/);
    t.notOk(existsSync(join(site, "packed-refs")));
    await run.folder.remove();
    t.notOk(existsSync(site));
  },
);
