import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { toPlaces } from "../../../../http/cli/dev/dev-folder.js";
import { toNote } from "../../../../http/runner/process/process-marks.js";
import { openDevScene } from "../../../support/dev-scene.js";
import { inRepository } from "../../../support/repository.js";

t.test("a folder that agents cannot start from is refused with what to do, and nothing is made", async (t) => {
  const { repository, run } = openDevScene(t);
  const outside = join(repository, "../outside");
  const bare = join(repository, "../bare.git");
  const empty = join(repository, "../empty");
  for (const folder of [outside, bare, empty]) mkdirSync(folder);
  inRepository(bare, "init", "--quiet", "--bare");
  inRepository(empty, "init", "--quiet", "--initial-branch", "main");
  t.match(await run(["dev"], { folder: outside }), { code: 1, err: /is not in a git repository.*git init/ });
  t.match(await run(["dev"], { folder: bare }), { code: 1, err: /is not in a git repository with files/ });
  t.match(await run(["dev"], { folder: empty }), {
    code: 1,
    err: /has no commit, and agents start from a commit: create one/,
  });
  inRepository(repository, "switch", "--quiet", "--detach");
  t.match(await run(["dev"]), { code: 1, err: /HEAD is detached at [0-9a-f]{10}.*git switch/ });
  t.same(
    [repository, empty].filter((folder) => existsSync(join(folder, ".signalbox"))),
    [],
  );
});

t.test("it listens on this machine alone", async (t) => {
  const { repository, run } = openDevScene(t);
  for (const HOST of ["0.0.0.0", "::", "192.0.2.1", "example.com", "127.0.0.1.example.com", "::ffff:10.0.0.1"]) {
    t.match(await run(["dev"], { env: { HOST } }), { code: 64, err: /HOST: signalbox dev does not listen on/ }, HOST);
  }
  t.notOk(existsSync(join(repository, ".signalbox")));
});

t.test("wrong arguments and settings are refused before anything is made", async (t) => {
  const { repository, run } = openDevScene(t);
  const wrong: readonly (readonly [readonly string[], RegExp, Readonly<Record<string, string>>?])[] = [
    [["--port", "http"], /--port: must be a port, 0 to 65535/],
    [["--port", "70000"], /--port: must be a port/],
    [["--stations", ""], /--stations: "" must be lowercase words/],
    [["--stations", "work,work"], /--stations: work is named twice/],
    [["--stations", "work,\u001b[31m"], /--stations: " \[31m" must be|--stations: "\[31m" must be/],
    [[], /OUTBOUND_ALLOW: /, { OUTBOUND_ALLOW: "http://" }],
    [[], /PORT: must be a port/, { PORT: "x" }],
  ];
  for (const [args, err, env = {}] of wrong) {
    t.match(await run(["dev", ...args], { env }), { code: 64, err }, [...args, ...Object.keys(env)].join(" "));
  }
  t.notOk(existsSync(join(repository, ".signalbox")));
});

t.test("an agent that cannot start is refused before anything is made", async (t) => {
  const { repository, run } = openDevScene(t, { "agent.sh": "exit 0\n", "sub/a.txt": "a\n" });
  const folder = join(repository, "sub");
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [["--command", "nosuchprog"], "cannot start the agent nosuchprog: it is not in a folder of PATH"],
    [["--", "./nosuch.sh", "-x"], `cannot start the agent ./nosuch.sh: there is no file ${folder}/nosuch.sh`],
    [["--command", "../agent.sh"], "cannot start the agent ../agent.sh: it is not executable"],
    [["--command", "./agent.sh"], "cannot start the agent ./agent.sh: it is not executable"],
    [["--command", "../sub"], "cannot start the agent ../sub: it is not a file"],
    [["--command", ""], "cannot start the agent : its name is empty"],
  ];
  for (const [args, err] of wrong) {
    t.match(await run(["dev", ...args], { folder }), { code: 64, err: `error: ${err}` }, args.join(" "));
  }
  t.notOk(existsSync(join(repository, ".signalbox")));
});

t.test("a port that is taken is refused; a second start in the folder is, too", async (t) => {
  const scene = openDevScene(t);
  const dev = await scene.start();
  const other = openDevScene(t);
  const port = new URL(dev.url).port;
  t.match(await other.run(["dev", "--port", port]), {
    code: 1,
    err: new RegExp(`^error: --port: .*cannot listen on .*:${port}`),
  });
  t.match(await scene.run(["dev", "--port", "0"]), {
    code: 1,
    err: `error: signalbox dev already runs here, at ${dev.url}\nin another terminal: signalbox task open "The tests fail"`,
  });
  t.equal((await dev.client.get("/api/sessions/me")).email, "ada@example.com", "the first one still runs");
});

t.test("a folder that another runner uses is refused with what to do", async (t) => {
  const { signalbox, repository, run } = openDevScene(t);
  const { runner } = toPlaces({ env: { HOME: signalbox.home } }, repository);
  mkdirSync(runner, { recursive: true });
  writeFileSync(join(runner, "runner.pid"), toNote(process.pid));
  const { code, err } = await run(["dev", "--port", "0"]);
  t.equal(code, 1);
  t.match(err, `the runner with process id ${process.pid} uses ${runner}: stop that runner first`);
  t.notMatch(err, /--work-folder/);
});
