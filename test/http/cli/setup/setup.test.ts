import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { text } from "node:stream/consumers";
import t from "tap";
import { openCommandScene, testCommands } from "../../../support/command-cases.js";
import { inRepository, layRepository } from "../../../support/repository.js";
import { RunnerPeer } from "../../../support/runner-peer.js";
import { signalbox as program } from "../../../support/signalbox-command.js";
import { openCutConnection } from "../configuration/cut-connection.js";
import { setupCases } from "./setup-cases.js";

t.test("every command that sets up a workspace", async (t) => {
  const scene = await openCommandScene(t);
  const { service, signalbox, person, workspaceId, teamId } = scene;
  const { run, home } = signalbox;
  await testCommands(t, scene, setupCases);

  /** Runs a command that must succeed; returns what `--json` prints. */
  const done = async (args: readonly string[], input = "") => {
    const { code, out, err } = await run([...args, "--json"], { input });
    if (code !== 0) throw new Error(err);
    return JSON.parse(out);
  };

  await t.test("a token that cannot be printed is named, without a stack trace", async (t) => {
    const create = async (name: string, stdout: number | "pipe") => {
      const command = spawn(process.execPath, [program, "token", "create", name, "--scope", "read"], {
        cwd: home,
        env: { PATH: process.env.PATH, HOME: home },
        stdio: ["ignore", stdout, "pipe"],
      });
      command.stdout?.destroy();
      const ended = once(command, "close");
      const err = command.stderr === null ? "" : await text(command.stderr);
      return { err, ended: await ended };
    };
    const full = openSync("/dev/full", "w");
    t.teardown(() => closeSync(full));
    for (const [name, stdout, code] of [
      ["full", full, "ENOSPC"],
      ["gone", "pipe", "EPIPE"],
    ] as const) {
      const { err, ended } = await create(name, stdout);
      const lost = `^error: the token ${name} was created in acme, but it is lost: revoke it with signalbox token revoke ${name}, and create another: cannot write to standard output: .*${code}`;
      t.match(err, new RegExp(lost, "m"));
      t.notMatch(err, /^ +at /m);
      t.same(ended, [1, null]);
    }
  });

  await t.test("a token is printed alone and works, within its scopes", async (t) => {
    const { out, err } = await run(["token", "create", "opener", "--scope", "work"]);
    t.match(err, /^created the token opener in acme \(work\): it does not expire, and is not shown again$/);
    t.notOk(err.includes(out), "only standard output has the token");
    const asToken = service.withToken(out);
    t.equal((await asToken.request("GET", "/api/resources/workspaces")).status, 200);
    const refused = await asToken.request(
      "POST",
      `/api/resources/workspaces/${workspaceId}/teams`,
      { key: "x", name: "X" },
      { "idempotency-key": "x" },
    );
    t.match(refused, { status: 403 });
    t.match(await run(["token", "create", "opener", "--scope", "read"]), {
      code: 1,
      err: /already has a token with the name opener: choose another name/,
    });
    t.match(await run(["token", "create", "ci"]), { code: 64, err: /required option '--scope <scopes>'/ });
    t.match(await run(["token", "create", "ci", "--scope", "secrets"]), { code: 1, err: /scopes/ });
    t.match(await run(["token", "create", "old", "--scope", "read", "--expires", "2020-01-01T00:00:00Z"]), {
      code: 1,
      err: /must lie in the future/,
    });
    t.match(await run(["token", "create", "old", "--scope", "read", "--expires", "soon"]), { code: 64 });
    t.match(await run(["token", "create", "ci", "--scope", "read", "--workspace", "none"]), {
      code: 1,
      err: /no workspace none/,
    });
  });

  await t.test("a revoked token stops working, and revoking asks in a terminal", async (t) => {
    const { out } = await run(["token", "create", "brief", "--scope", "read"]);
    const asToken = service.withToken(out);
    const question = /^Revoke the token brief \(read\) of acme\? Programs that use it lose access\. \[y\/N\]/;
    t.match(await run(["token", "revoke", "brief"]), { code: 64, err: /not a terminal: use --yes/ });
    t.match(await run(["token", "revoke", "brief"], { answers: ["no"] }), { code: 1, err: question });
    t.equal((await asToken.request("GET", "/api/resources/workspaces")).status, 200);
    const [found] = (await done(["token", "list"])).items.filter(({ name }: { name: string }) => name === "brief");
    t.notMatch(JSON.stringify(found), out);
    t.match(await run(["token", "revoke", found.id.slice(0, -1)], { answers: ["y"] }), {
      code: 0,
      out: /^revoked the token brief/,
    });
    t.equal((await asToken.request("GET", "/api/resources/workspaces")).status, 401);
    t.match(await run(["token", "revoke", "brief", "--yes"]), { code: 1, err: /acme has no token brief; it has: / });
  });

  await t.test("a rotated pool takes the new token, and no longer the old one", async (t) => {
    const joins = async (token: string) => {
      const peer = await RunnerPeer.join(service, token).catch(() => null);
      await peer?.cut();
      return peer !== null;
    };
    const before = await run(["pool", "rotate", "main"], { answers: ["y"] });
    t.match(before, {
      code: 0,
      err: /^Replace the token of the pool main of acme\?[\s\S]*SIGNALBOX_POOL_TOKEN=<new token>/,
    });
    t.notOk(before.err.includes(before.out));
    t.equal(await joins(before.out), true);
    const { token } = await done(["pool", "rotate", "main", "--yes"]);
    t.same([await joins(token), await joins(before.out)], [true, false]);
    t.match(await run(["pool", "rotate", "none", "--yes"]), {
      code: 1,
      err: /acme has no runner pool none; it has: main/,
    });
    t.match(await run(["pool", "rotate", "main"]), { code: 64, err: /use --yes/ });
  });

  await t.test("init and secret set give agents all that they need, and repeat without a change", async (t) => {
    const args = ["init", "--team", "labs/fixers", "--repository", "labs/app", "--line", "fix", "--stations", "work"];
    const first = await done([...args, "--pool", "big"]);
    t.match(first, { workspace: { isNew: true }, team: { isNew: true }, pool: { isNew: true }, line: { isNew: true } });
    t.ok(first.next.runner.includes(first.pool.token));
    const peer = await RunnerPeer.join(service, first.pool.token);
    t.teardown(async () => peer.cut());

    const values: Readonly<Record<string, readonly [input: string, value: string, ...flags: string[]]>> = {
      plain: ["hunter2", "hunter2"],
      echoed: ["hunter2\n", "hunter2"],
      windows: ["hunter2\r\n", "hunter2"],
      lines: ["one\ntwo\n\n", "one\ntwo\n"],
      exact: ["hunter2\n", "hunter2\n", "--exact"],
      spaced: ["  hunter2 \n", "  hunter2 "],
    };
    for (const [name, [input, , ...flags]] of Object.entries(values)) {
      const set = await run(["secret", "set", name, ...flags], { input });
      t.match(set, { code: 0, out: `created the secret ${name} in labs: version 1, for no host` });
      t.notMatch(set, /hunter2/);
    }
    const typed = await run(["secret", "set", "typed", "--host", "a.example.com", "--host", "b.example.com"], {
      answers: ["hunter3"],
    });
    t.match(typed, { code: 0, err: "Value of typed (hidden):", out: /for a\.example\.com, b\.example\.com$/ });
    t.match(await run(["secret", "set", "typed"], { input: "hunter4" }), {
      out: /^updated .* version 2, for a\.example\.com, b/,
    });
    for (const [input, wanted] of [
      ["", /the value is empty/],
      ["\n", /the value is empty/],
      ["\ufffd", /not text in UTF-8/],
    ] as const) {
      t.match(await run(["secret", "set", "plain"], { input }), { code: 64, err: wanted });
    }
    t.match(await run(["secret", "set", "plain"], { answers: [] }), { code: 130, err: /no value was given/ });

    const secrets = Object.fromEntries([...Object.keys(values), "typed"].map((name) => [name.toUpperCase(), name]));
    await person.create(`/api/resources/teams/${first.team.id}/harness-profiles`, { key: "keyed", secrets });
    const stations = [{ key: "work", name: "Work", kind: "work", runners: { pool: "big" }, profile: "keyed" }];
    const changed = { key: "fix", name: "Fix", repositories: [{ name: "labs/app" }], stations };
    const path = `/api/resources/lines/${first.line.id}`;
    t.equal((await person.request("PUT", path, changed, { "if-match": '"1"' })).status, 200);

    await done(["task", "open", "Fix it"]);
    const { harness, checkouts } = await peer.job();
    const expected = Object.entries(values).map(([name, [, value]]) => [name.toUpperCase(), value]);
    t.strictSame(harness.secrets, { ...Object.fromEntries(expected), TYPED: "hunter4" });
    t.match(checkouts, [{ repository: "labs/app" }]);

    const again = await run([...args, "--pool", "big", "--json"]);
    t.equal(again.code, 0);
    t.match(JSON.parse(again.out), {
      pool: { id: first.pool.id, token: null },
      line: { id: first.line.id, isNew: false },
    });
    t.equal(again.err, "");
    const other = await run([
      "init",
      "--team",
      "labs/fixers",
      "--repository",
      "labs/other",
      "--line",
      "fix",
      "--stations",
      "a,b",
    ]);
    t.match(
      other.err,
      /^--stations has no effect: the line fix already has work\n--repository has no effect: .* has labs\/app/,
    );
    t.match(other.out, /runner pool +main \(created\)/);
  });

  await t.test("init asks in a terminal until the answers are valid, and names its options without one", async (t) => {
    layRepository(home);
    inRepository(home, "remote", "add", "origin", "git@github.example.com:initech/app.git");
    const answers = ["Not a slug", "initech", "", "app", "", "", "Work", "work,review", ""];
    const { code, out, err } = await run(["init"], { answers });
    t.equal(code, 0, err);
    t.same(err.split("\n").slice(0, 11), [
      ...["Workspace [labs]:", '"Not a slug" must be lowercase words joined by dashes', "Workspace [labs]:"],
      ...["Team [core]:", "Repository (owner/name) [initech/app]:", '"app" must be a repository as owner/name'],
      ...["Repository (owner/name) [initech/app]:", "Line [main]:", "Stations, separated by commas [work,review]:"],
      ...['"Work" must be lowercase words joined by dashes; give keys like work,review'],
      ...["Stations, separated by commas [work,review]:"],
    ]);
    t.match(out, /workspace +<\/> +initech \(created\)/);
    const ended = await run(["init"], { answers: ["initech"] });
    t.match(ended, { code: 130, err: /no answer was given/ });
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [[], /pass --team <workspace>\/<team> and --repository <owner\/name>$/],
      [["--team", "core", "--repository", "acme/app"], /pass --team <workspace>\/<team>$/],
      [["--team", "acme/core"], /pass --repository <owner\/name>$/],
      [["--team", "acme/Core!", "--repository", "acme/app"], /--team: "Core!" must be lowercase words/],
      [["--team", "acme/core/x", "--repository", "acme/app"], /--team: "core\/x" must be lowercase words/],
      [["--team", "acme/core", "--repository", "app"], /--repository: "app" must be a repository as owner\/name/],
      [["--team", "acme/core", "--repository", "acme/app", "--pool", "A"], /--pool: "A" must be/],
      [["--team", "acme/core", "--repository", "acme/app", "--stations", "a,a"], /--stations: a is named twice/],
    ];
    for (const [args, wanted] of cases)
      t.match(await run(["init", ...args]), { code: 64, err: wanted }, args.join(" "));
    const { body } = await person.request("GET", `/api/resources/workspaces/${workspaceId}/lines`);
    t.match(body, { items: [{ teamId }], length: undefined }, "nothing was created half");
  });

  await t.test("init shows the token of a new pool when a later step fails", async (t) => {
    await person.create(`/api/resources/workspaces/${workspaceId}/teams`, { key: "late", name: "Late" });
    const names = Array.from({ length: 101 }, (_, n) => `s${n}`).join(",");
    const many = ["--team", "acme/late", "--repository", "acme/app", "--pool", "late", "--stations", names];
    const { code, err } = await run(["init", ...many]);
    t.equal(code, 1);
    t.match(err, /^created the runner pool late; its token, which is not shown again: \S+\n.*error: [\s\S]*stations/);
  });

  await t.test("a secret whose response is lost may be in the service, which the error says", async (t) => {
    const connection = await openCutConnection(service.port);
    t.teardown(() => connection.close());
    const token = await done([
      "token",
      "create",
      "lossy",
      "--workspace",
      "acme",
      "--scope",
      "configure,runners,trusts",
    ]).then((made) => made.token);
    await person.create(`/api/resources/workspaces/${workspaceId}/runner-pools`, { key: "lossy" });
    const hook = [
      "hook",
      "create",
      "lossy",
      "--event",
      "run.ended",
      "--receiver",
      "https://example.com",
      "--team",
      "acme/core",
    ];
    const cases = [
      [
        ["pool", "rotate", "lossy", "--workspace", "acme", "--yes"],
        /^the token of the pool lossy may be replaced: run signalbox pool rotate lossy again$/m,
      ],
      [hook, /^the team core may have the hook lossy now: run signalbox hook delete lossy, and create it again$/m],
    ] as const;
    for (const [args, advice] of cases) {
      for (const [when, code] of [
        ["after", 3],
        ["failed", 1],
      ] as const) {
        connection.cut(1, when);
        const env = { SIGNALBOX_URL: connection.url, SIGNALBOX_TOKEN: token };
        const ended = await run(args, { env });
        t.match(ended, { code, out: "", err: advice }, `${args[0]} ${when}`);
      }
    }
  });
});
