import { CommanderError } from "commander";
import t from "tap";
import { createCommandLine, readCommandLine } from "../../../http/runner/command-line.js";

// The command reads this variable as an option; each test decides whether it is set.
delete process.env.SIGNALBOX_POOL_TOKEN;

/**
 * Returns the output of an invalid command line on standard error and standard output, and its exit code. Fails if the
 * command line is valid.
 */
function toComplaint(args: readonly string[]): { readonly err: string; readonly out: string; readonly code: number } {
  let [err, out] = ["", ""];
  const program = createCommandLine().exitOverride();
  program.configureOutput({
    writeErr: (text) => {
      err += text;
    },
    writeOut: (text) => {
      out += text;
    },
  });
  try {
    readCommandLine(program, args);
  } catch (error) {
    if (error instanceof CommanderError) return { err, out, code: error.exitCode };
    throw error;
  }
  throw new Error(`nothing is wrong with ${args.join(" ")}`);
}

t.test("a wrong command line ends in one line that says what is wrong", async (t) => {
  const url = ["--url", "http://127.0.0.1:1"];
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /^error: required option '--url <url>' not specified\n$/],
    [url, /^error: a pool token is required: .*SIGNALBOX_POOL_TOKEN.*\n$/],
    [["--url", "ftp://x"], /^error: .*--url.*It must be an http or https address\.\n$/],
    [[...url, "--slots", "0"], /^error: .*--slots.*1 to 1000\.\n$/],
    [[...url, "--git-url", "https://x"], /^error: .*--git-url.*\{name\}.*\n$/],
    [[...url, "--slots", "0x10"], /^error: .*--slots.*1 to 1000\.\n$/],
    [["--url", "http://"], /^error: .*--url.*It must be an http or https address\.\n$/],
    [[...url, "--unheard-of"], /^error: unknown option '--unheard-of'\n$/],
    [[...url, "--lable", "gpu"], /^error: unknown option '--lable' \(Did you mean --label\?\)\n$/],
    [[...url, "--label", ""], /^error: .*--label.*1 to 64 characters\.\n$/],
    [[...url, "--pool-token", "a secret"], /^error: the pool token must consist of visible ASCII characters\n$/],
    [[...url, "--trust", "rtrust_1"], /^error: --trust and --trust-token-file must be set together.*\n$/],
    [
      [...url, "--trust", "rtrust_1", "--trust-token-file", "x", "--pool-token", "y"],
      /^error: both a pool token and --trust are set: use one of them\n$/,
    ],
    [[...url, "--command"], /^error: .*--command.* argument missing\n$/],
  ];
  for (const [args, wanted] of cases) {
    const { err, out, code } = toComplaint(args);
    t.equal(code, 1);
    t.equal(out, "");
    t.match(err, wanted);
  }
});

t.test("a right one says what is asked for", async (t) => {
  const args = ["--url", "https://signalbox.example", "--pool-token", "secret", "--slots", "3", "--label", "gpu"];
  const wish = readCommandLine(createCommandLine(), [
    ...args,
    "--work-folder",
    "/w",
    "--name",
    "n",
    "--",
    "node",
    "-e",
  ]);
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
