import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import t from "tap";
import { settings } from "../../../http/process/config.js";

/** The command `signalbox`. The tests need the build that `npm test` makes. */

const program = resolve("http/cli/signalbox.mjs");
const { version, scripts }: Manifest = JSON.parse(readFileSync("package.json", "utf8"));

interface Manifest {
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const run = (command: string, ...args: string[]): Promise<Ran> =>
  new Promise((done) => {
    execFile(command, args, { env: { PATH: process.env.PATH ?? "", HOME: tmpdir() } }, (error, out, err) =>
      done({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
const signalbox = (...args: string[]) => run(process.execPath, program, ...args);

const names = "serve runner check backup restore dead-letters doctor compact rebuild-directory recount-bodies";
const commands = names.split(" ");

t.test("it says its version and its commands, and each command its own options", async (t) => {
  const [release, help, ...each] = await Promise.all([
    signalbox("--version"),
    signalbox("--help"),
    ...commands.map((name) => signalbox(name, "--help")),
  ]);
  t.same(release, { code: 0, out: `${version}\n`, err: "" });
  t.equal(help.code, 0);
  const named = [...help.out.matchAll(/^ {2}([a-z][a-z-]*) .*$/gm)].map(([, name]) => name);
  t.same(
    commands.filter((name) => !named.includes(name)),
    [],
  );
  t.equal(named[0], "dev", "what people start with comes first");
  const groups = [...help.out.matchAll(/^([A-Z][a-z ]+):$/gm)].map(([, group]) => group);
  t.same(groups, ["Options", "Start", "Work", "Hooks and connections", "Configuration", "Measure", "Operate"]);
  for (const [index, name] of commands.entries()) {
    t.match(
      each[index]?.out,
      new RegExp(`^Usage: signalbox ${name} .*\\n\\n(?!Options:|Arguments:)[A-Z]`),
      `${name} says what it does`,
    );
    t.equal(each[index]?.code, 0, name);
  }
});

t.test("the help of the service lists every setting, with its default where it has one", async (t) => {
  const { out } = await signalbox("serve", "--help");
  const listed = [...out.matchAll(/^ {2}([A-Z_]+) {2,}\S.*$/gm)].map(([, name]) => name);
  t.same(listed, Object.keys(settings));
  t.notMatch(out, "undefined");
  for (const line of [/ PORT .*\(default: 8787\)$/m, / RETENTION_WORK .*\(default: 200d\)$/m]) t.match(out, line);
  t.notMatch(out, / SMTP_URL .*default/);
});

t.test("help of a command is shown, and of an unknown one is refused", async (t) => {
  for (const args of [["task", "open"], ["check"], ["run"], ["complete"], []]) {
    const [help, option] = await Promise.all([signalbox("help", ...args), signalbox(...args, "--help")]);
    t.equal(help.code, 0, help.err);
    t.match(help.out, `Usage: signalbox ${args.join(" ")}`);
    t.equal(help.out, option.out);
  }
  for (const args of [["connect"], ["task", "connect"], ["replay", "connect"]]) {
    for (const words of [
      [...args, "--help"],
      ["help", ...args],
    ]) {
      t.match(await signalbox(...words), { code: 64, out: "", err: /^error: [^\n]*\n$/ }, words.join(" "));
    }
  }
  t.match((await signalbox("--help")).out, /^ {2}help \[command\] +show/m);
  t.match((await signalbox("complete", "--help")).out, /bash-completion[\s\S]*source <\(signalbox complete bash\)/);
});

t.test("a group lists its commands alone", async (t) => {
  for (const group of ["task", "replay"]) {
    const { code, out } = await signalbox(group, "--help");
    t.equal(code, 0);
    t.match(out, /^Commands:$/m);
    t.notMatch(out, "help [command]");
  }
});

t.test("shells complete commands and options", async (t) => {
  for (const shell of ["bash", "zsh", "fish"])
    t.match(await signalbox("complete", shell), { code: 0, out: /signalbox/ });
  t.match((await signalbox("complete", "--", "who")).out, /^whoami\t/m);
  t.match((await signalbox("complete", "--", "login", "--em")).out, /^--email\t/m);
  t.match(await signalbox("complete", "--", "--help"), { code: 0, out: /^:\d+$/m });
});

t.test("bash loads its completion script again, and after one of another program, without an error", async (t) => {
  const { out } = await signalbox("complete", "bash");
  const folder = mkdtempSync(join(tmpdir(), "signalbox-completion-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "script"), out);
  const lines = [
    "set -u",
    "readonly ShellCompDirectiveError=1",
    `source ${folder}/script`,
    `source ${folder}/script`,
    "complete -p signalbox",
    `signalbox() { ${process.execPath} ${program} "$@"; }`,
    "_get_comp_words_by_ref() { cur=who; prev=signalbox; words=(signalbox who); cword=1; }",
    "compopt() { :; }",
    "__signalbox_complete",
    'echo "$COMPREPLY"',
  ];
  const { stdout, stderr, status } = spawnSync("bash", ["--norc", "-c", lines.join("\n")], { encoding: "utf8" });
  t.same([stderr, status], ["", 0]);
  t.match(stdout, /^complete .*__signalbox_complete signalbox\nwhoami\n$/);
});

t.test("bash completes a line without running its substitutions and redirections", async (t) => {
  const { out } = await signalbox("complete", "bash");
  const folder = mkdtempSync(join(tmpdir(), "signalbox-completion-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "script"), out);
  writeFileSync(join(folder, "kept"), "kept");
  const complete = (...typed: readonly string[]) => {
    const words = ["signalbox", ...typed].map((word) => `'${word}'`).join(" ");
    const lines = [
      "source ./script",
      `signalbox() { ${process.execPath} ${program} "$@"; }`,
      `_get_comp_words_by_ref() { words=(${words}); cword=${typed.length}; cur="\${words[cword]}"; prev=; }`,
      "compopt() { :; }",
      "__signalbox_complete",
      `echo "\${COMPREPLY[*]}"`,
    ];
    const options = { encoding: "utf8", cwd: folder } as const;
    return spawnSync("bash", ["--norc", "-c", lines.join("\n")], options).stdout;
  };
  t.match(complete("task", ""), /^open list show /);
  t.match(complete("task", "op"), /^open\n$/);
  complete("task", "$(touch run)", "");
  complete("task", "`touch run`", "");
  complete("task", ">", "kept", "--");
  complete("task", ";", "touch", "run");
  t.same(readdirSync(folder).sort(), ["kept", "script"]);
  t.equal(readFileSync(join(folder, "kept"), "utf8"), "kept");
});

t.test("a wrong command line ends in one line that says what is wrong", async (t) => {
  const cases: readonly (readonly [readonly string[], RegExp, code?: number])[] = [
    [["backpu"], /^error: unknown command 'backpu' \(Did you mean backup\?\)\n$/],
    [["serve", "--port", "80"], /^error: unknown option '--port'\n$/],
    [["serve", "now"], /^error: too many arguments for 'serve'.*\n$/],
    [["backup", "--data", "x"], /^error: required option '--to <folder>' not specified\n$/],
    [["runner", "--url", "runner", "--slots", "1"], /^error: .*--url.*It must be an http or https address\.\n$/],
    [["runner", "--url", "http://127.0.0.1:1", "--json"], /^error: unknown option '--json'\n$/],
    [["check", "--url", "http://127.0.0.1:1"], /^error: missing required argument 'plan'\n$/, 3],
  ];
  for (const [args, wanted, expected = 64] of cases) {
    const { code, out, err } = await signalbox(...args);
    t.same([code, out], [expected, ""], args.join(" "));
    t.match(err, wanted);
  }
});

t.test("where nothing is built it says in one line what to do", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-unbuilt-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "http/cli"), { recursive: true });
  cpSync(program, join(folder, "http/cli/signalbox.mjs"));
  const { code, out, err } = await run(process.execPath, join(folder, "http/cli/signalbox.mjs"), "serve");
  t.same([code, out], [1, ""]);
  t.match(err, /^[^\n]*npm ci && npm run build[^\n]*\n$/);
});

t.test("each command has its script, which compiles nothing", async (t) => {
  const script = (name: string) => scripts[name === "serve" ? "start" : name] ?? "";
  for (const name of commands) t.match(script(name), new RegExp(`^exec node .*http/cli/signalbox\\.mjs ${name}$`));
});
