import stringWidth from "string-width";
import type { Test } from "tap";
import { type Cleaning, type Client, startTestService, type TestService } from "./service.js";
import { openSignalbox, type Signalbox } from "./signalbox.js";

/** A service with a person who is signed in on the command line, in a workspace `acme` with a team `core`. */
export interface CommandScene {
  readonly service: TestService;
  readonly signalbox: Signalbox;
  /** An HTTP client that is signed in as the person. */
  readonly person: Client;
  readonly workspaceId: string;
  readonly teamId: string;
}

/** A command, as the table test runs it. */
export interface CommandCase<Scene extends CommandScene = CommandScene> {
  /** The name with its group, such as `task open`. */
  readonly name: string;
  /**
   * Returns the arguments of a call that succeeds. The test calls this function separately for each call of the
   * command.
   */
  readonly args: (scene: Scene) => Promise<readonly string[]> | readonly string[];
  /** Must match the standard output without `--json`. */
  readonly prints: RegExp;
  /** Fields that the output with `--json` must have. */
  readonly json: object;
  /** Wrong arguments. */
  readonly wrong: readonly string[];
  /** The exit code of success. Default: 0. */
  readonly code?: number;
  /** Text on standard input. */
  readonly input?: string;
  /** The folder that the command runs in. */
  readonly folder?: () => string;
  /** The command does not end by itself. The test interrupts the command when it has printed a line. */
  readonly isInterrupted?: true;
}

export async function openCommandScene(
  t: Cleaning,
  settings: Readonly<Record<string, string>> = {},
): Promise<CommandScene> {
  const service = await startTestService(t, { settings });
  const signalbox = openSignalbox(t);
  const person = await service.signIn("ada@example.com");
  const { id: workspaceId } = await person.create("/api/resources/workspaces", { slug: "acme", name: "Acme" });
  const { id: teamId } = await person.create(`/api/resources/workspaces/${workspaceId}/teams`, {
    key: "core",
    name: "Core",
  });
  const link = await service.linkFor("ada@example.com");
  const { code, err } = await signalbox.run(["login", service.baseUrl, "--link", link]);
  if (code !== 0) throw new Error(err);
  return { service, signalbox, person, workspaceId, teamId };
}

/** Matches the names of commands that only print a table. */
const LISTS = /(list|log|inbox)$/;

/**
 * Checks the output at several terminal widths. No line may be wider than the terminal. Every id in `whole` must be in
 * the output, and not shortened.
 */
async function testWidths(t: Test, { run }: Signalbox, words: readonly string[], whole: string): Promise<void> {
  const ids = whole.match(/\b[a-z]+_[0-9A-Z]{26}(-\w{8})?\b/g) ?? [];
  for (const columns of [60, 80, 120]) {
    const { out } = await run(words, { columns, answers: [], env: { NO_COLOR: "1" } });
    t.same(
      out.split("\n").filter((line) => stringWidth(line) > columns),
      [],
      `no line is wider than ${columns}`,
    );
    t.same(
      ids.filter((id) => !out.includes(id)),
      [],
      `ids are whole at ${columns}`,
    );
  }
}

/**
 * Runs each command four times: without a terminal and with `NO_COLOR`, with `--json`, with `--help`, and with wrong
 * arguments. Checks the outputs and the exit codes.
 */
export async function testCommands<Scene extends CommandScene>(
  t: Test,
  scene: Scene,
  cases: readonly CommandCase<Scene>[],
): Promise<void> {
  const { signalbox } = scene;
  for (const { name, args, prints, json, wrong, code = 0, input = "", folder, isInterrupted } of cases) {
    await t.test(name, async (t) => {
      const words = name.split(" ");
      const run = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
        const ended = new AbortController();
        const until = isInterrupted && { interrupted: ended.signal, printed: () => ended.abort() };
        return signalbox.run(words, { input, env, ...(folder && { folder: folder() }), ...until });
      };
      const people = await run([...words, ...(await args(scene))], { NO_COLOR: "1" });
      t.equal(people.code, code, people.err);
      t.match(people.out, prints);
      // Every color starts with an escape character. The check uses `includes`, because biome forbids this character in
      // a regular expression.
      t.notOk(people.out.includes("\u001b"), "no colour");
      const program = await run([...words, ...(await args(scene)), "--json"]);
      t.equal(program.code, code, program.err);
      t.match(JSON.parse(program.out), json);
      if (LISTS.test(name)) await testWidths(t, signalbox, [...words, ...(await args(scene))], people.out);
      const help = await signalbox.run([...words, "--help"]);
      t.equal(help.code, 0);
      t.match(help.out, new RegExp(`^Usage: signalbox ${name}.*\\n\\n[A-Z].*\\.\\n[^]*Example:\\n  signalbox ${name}`));
      t.equal((await signalbox.run([...words, ...wrong])).code, 64, "wrong arguments");
    });
  }
}
