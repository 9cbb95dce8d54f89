import { Command } from "commander";
import t from "tap";
import { declareRunner, type RunnerFlags } from "../../../http/runner/command-line.js";
import { type RunnerWish, readWish } from "../../../http/runner/read-wish.js";
import { openSignalbox } from "../../support/signalbox.js";

// The command reads this variable as an option; each test decides whether it is set.
delete process.env.SIGNALBOX_POOL_TOKEN;

/** Parses a valid command line. */
function read(args: readonly string[]): RunnerWish {
  const command = declareRunner(new Command());
  const flags = command.parse(args, { from: "user" }).opts<RunnerFlags>();
  return readWish(flags, command.args, (message) => {
    throw new Error(message);
  });
}

t.test("a wrong command line ends in one line that says what is wrong", async (t) => {
  const url = ["--url", "http://127.0.0.1:1"];
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /^error: required option '--url <url>' not specified$/],
    [url, /^error: a pool token is required: .*SIGNALBOX_POOL_TOKEN.*$/],
    [["--url", "ftp://x"], /^error: .*--url.*It must be an http or https address\.$/],
    [[...url, "--slots", "0"], /^error: .*--slots.*1 to 1000\.$/],
    [[...url, "--git-url", "https://x"], /^error: .*--git-url.*\{name\}.*$/],
    [[...url, "--slots", "0x10"], /^error: .*--slots.*1 to 1000\.$/],
    [["--url", "http://"], /^error: .*--url.*It must be an http or https address\.$/],
    [[...url, "--unheard-of"], /^error: unknown option '--unheard-of'$/],
    [[...url, "--lable", "gpu"], /^error: unknown option '--lable' \(Did you mean --label\?\)$/],
    [[...url, "--label", ""], /^error: .*--label.*1 to 64 characters\.$/],
    [[...url, "--pool-token", "a secret"], /^error: the pool token must consist of visible ASCII characters$/],
    [[...url, "--trust", "rtrust_1"], /^error: --trust and --trust-token-file must be set together.*$/],
    [
      [...url, "--trust", "rtrust_1", "--trust-token-file", "x", "--pool-token", "y"],
      /^error: both a pool token and --trust are set: use one of them$/,
    ],
    [[...url, "--command"], /^error: .*--command.* argument missing$/],
  ];
  const { run } = openSignalbox(t);
  for (const [args, wanted] of cases) {
    const { err, out, code } = await run(["runner", ...args]);
    t.same([code, out], [64, ""], args.join(" "));
    t.match(err, wanted);
  }
});

t.test("a right one says what is asked for", async (t) => {
  const args = ["--url", "https://signalbox.example", "--pool-token", "secret", "--slots", "3", "--label", "gpu"];
  const wish = read([...args, "--work-folder", "/w", "--name", "n", "--", "node", "-e"]);
  t.match(wish, {
    url: "https://signalbox.example",
    name: "n",
    labels: ["gpu"],
    slots: 3,
    workFolder: "/w",
    gitUrl: "https://github.com/{name}.git",
    passEnv: [],
    command: ["node", "-e"],
  });
});
