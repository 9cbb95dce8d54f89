import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Test } from "tap";
import { killGroup } from "../../http/runner/process/process-group.js";
import { type Block, readBlocks } from "./page-blocks.js";
import { inRepository, layRepository } from "./repository.js";
import { signalbox } from "./signalbox-command.js";
import { until } from "./until.js";

/** The result of a block of commands. */
export interface BlockEnd {
  /** 0, or the exit code of the last command that failed. */
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** What a test does while its reader follows a page. */
export interface Following {
  /**
   * The heading of the section to follow. The section includes its subsections. By default, the reader follows the
   * whole page.
   */
  readonly section?: string;
  /** Replacements for texts of the page, such as `<team id>` or the service's address. */
  readonly values?: Record<string, string>;
  /**
   * Called before each block of commands. Tests use it for actions that a page expects between two blocks. It may add
   * to `values`.
   */
  readonly before?: (block: Block) => Promise<void> | void;
  /** Called after each block of commands, with its result. It may add to `values`. */
  readonly after?: (block: Block, end: BlockEnd) => Promise<void> | void;
}

/** A person with an empty home folder, a git repository, bash and the command `signalbox`, who follows pages. */
export interface Reader {
  readonly home: string;
  /** The repository; commands start in this folder. */
  readonly repository: string;
  /** Runs commands in the reader's terminal. Variables and the current folder carry over to later commands. */
  run(commands: string): Promise<BlockEnd>;
  /** Ends the programs in the background with SIGTERM, and waits until they have ended. */
  endBackground(): Promise<void>;
  /**
   * Follows a page from its first code block to its last:
   *
   * - a block with `title="name"` is written to that file in the repository;
   * - a block in `sh` runs in the terminal; all its commands must exit with 0;
   * - a block in `sh background` starts in the background, as in another terminal, and runs until the end of the test.
   *   The next block starts when the program has printed its first line;
   * - a block with `needs=program` is skipped if the program is missing;
   * - other blocks are only shown.
   */
  follow(page: string, following?: Following): Promise<void>;
}

export interface ReaderOptions {
  /** The files of the repository. */
  readonly files?: Readonly<Record<string, string>>;
  /** Environment variables, such as `SIGNALBOX_URL`. */
  readonly env?: Readonly<Record<string, string>>;
}

export function openReader(t: Test, options: ReaderOptions = {}): Reader {
  const { files = { "README.md": "A project.\n" }, env = {} } = options;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-reader-")));
  const home = join(folder, "home");
  const bin = join(folder, "bin");
  const repository = join(folder, "project");
  for (const each of [home, bin]) mkdirSync(each);
  writeFileSync(join(bin, "signalbox"), `#!/bin/sh\nexec '${process.execPath}' '${signalbox}' "$@"\n`);
  chmodSync(join(bin, "signalbox"), 0o755);
  layRepository(repository, files);
  inRepository(repository, "config", "user.email", "ada@example.com");
  inRepository(repository, "config", "user.name", "Ada Lovelace");
  const path = [bin, dirname(process.execPath), process.env.PATH].join(":");
  const shell = startShell(folder, { cwd: repository, env: { HOME: home, PATH: path, NO_COLOR: "1", ...env } });
  t.teardown(async () => {
    await shell.end();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  const follow: Reader["follow"] = async (page, { section, values = {}, before, after } = {}) => {
    const all = readBlocks(readFileSync(page, "utf8"), page);
    const blocks = all.filter(({ headings }) => section === undefined || headings.includes(section));
    t.ok(blocks.length > 0, `${page} has code`);
    for (const written of blocks) {
      const { title, needs, language, isBackground, line } = written;
      const place = `${page}:${line}`;
      if (needs !== null && (await shell.run(`command -v '${needs}'`)).code !== 0) {
        t.pass(place, { skip: `${needs} is missing` });
        continue;
      }
      const isRun = language === "sh" && title === null;
      if (isRun) await before?.(written);
      const code = fill(written.code, values);
      if (title !== null) {
        mkdirSync(dirname(join(repository, title)), { recursive: true });
        writeFileSync(join(repository, title), `${code}\n`);
      }
      if (!isRun) continue;
      const unknown = /<[a-z][\w /]*>/.exec(code)?.[0];
      if (unknown !== undefined) throw new Error(`${place}: the test does not replace ${unknown}`);
      const end = isBackground ? await shell.start(code) : await shell.run(code);
      t.equal(end.code, 0, `${place}\n${code}\n${end.out}${end.err}`);
      await after?.(written, end);
    }
  };
  const { run, endBackground } = shell;
  return { home, repository, run, endBackground, follow };
}

function fill(code: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, value), code);
}

interface Shell {
  run(commands: string): Promise<BlockEnd>;
  /** Starts commands in the background; resolves when they have printed a line, or ended. */
  start(commands: string): Promise<BlockEnd>;
  /** Ends the programs that {@link Shell.start} started, and waits until they have ended. */
  endBackground(): Promise<void>;
  end(): Promise<void>;
}

/** Starts one bash process, which runs all blocks. Its files are in `folder`. */
function startShell(folder: string, options: { readonly cwd: string; readonly env: Record<string, string> }): Shell {
  const shell = spawn("bash", ["--noprofile", "--norc"], {
    ...options,
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const closed = once(shell, "close");
  shell.stdin.write("set -Eo pipefail\ntrap 'failed=$?' ERR\n");
  let count = 0;
  const writeScript = (commands: string): string => {
    count += 1;
    const script = join(folder, `block-${count}.sh`);
    writeFileSync(script, `${commands}\n`);
    return script;
  };
  const run = async (commands: string): Promise<BlockEnd> => {
    const mark = `end of block ${count + 1}:`;
    const script = writeScript(commands);
    const ended = Promise.all([readUntil(shell, "stdout", mark), readUntil(shell, "stderr", mark)]);
    const printMark = `printf '${mark}%d\\n' "$failed"`;
    shell.stdin.write(`failed=0; . '${script}' </dev/null; ${printMark}; ${printMark} >&2\n`);
    const [[out, code], [err]] = await ended;
    return { code, out, err };
  };
  const groups = join(folder, "groups");
  writeFileSync(groups, "");
  const watcher = startWatcher(folder, shell.pid ?? 0, groups);
  const listGroups = () => readFileSync(groups, "utf8").split("\n").map(Number);
  const start = async (commands: string): Promise<BlockEnd> => {
    const script = writeScript(commands);
    const log = `${script}.log`;
    const wait = `while [ ! -s '${log}' ] && kill -0 $!; do sleep 0.05; done; cat '${log}'`;
    // With `set -m`, the program gets a process group of its own.
    const started = `set -m\n{ trap - ERR; . '${script}'; } >'${log}' 2>&1 </dev/null &\nset +m`;
    return run(`${started}\necho $! >>'${groups}'\n${wait}`);
  };
  const endBackground = async () => {
    for (const group of listGroups()) killGroup(group, "SIGTERM");
    await run("wait");
    writeFileSync(groups, "");
  };
  const end = async () => {
    await endGroups(shell, closed, listGroups);
    const ended = once(watcher, "close");
    watcher.kill("SIGKILL");
    await ended;
  };
  return { run, start, endBackground, end };
}

/**
 * Starts a process that waits for the end of this one. If a test is killed and its teardown does not run, the process
 * kills the shell and the programs in the background, and removes the folder.
 */
function startWatcher(folder: string, shellPid: number, groups: string): ChildProcess {
  const kills = `for group in ${shellPid} $(cat '${groups}'); do kill -s KILL -- "-$group"; done`;
  const commands = `cat >/dev/null; ${kills}; rm -rf '${folder}'`;
  return spawn("sh", ["-c", commands], { stdio: ["pipe", "ignore", "ignore"], detached: true });
}

/** Resolves with the text before the mark, and the number after it. Rejects if the stream ends first. */
function readUntil(shell: ChildProcess, name: "stdout" | "stderr", mark: string): Promise<readonly [string, number]> {
  const stream = shell[name];
  return new Promise((resolve, reject) => {
    let text = "";
    const onEnd = () => reject(new Error(`the shell ended: ${text}`));
    const onData = (part: string) => {
      text += part;
      const found = new RegExp(`${mark}(\\d+)\\n`).exec(text);
      if (found === null) return;
      stream?.off("data", onData).off("end", onEnd);
      resolve([text.slice(0, found.index), Number(found[1])]);
    };
    stream?.setEncoding("utf8").on("data", onData).once("end", onEnd);
  });
}

/** How long programs have to end after SIGTERM, in milliseconds. */
const GRACE_MS = 5_000;

/** Ends the shell, its background programs, and all processes that the shell or a background program started. */
async function endGroups(
  child: ChildProcess,
  closed: Promise<unknown>,
  listGroups: () => readonly number[],
): Promise<void> {
  const { pid = 0 } = child;
  const groups = [pid, ...listGroups()];
  for (const group of groups) killGroup(group, "SIGTERM");
  child.stdin?.end();
  const timer = setTimeout(() => {
    for (const group of groups) killGroup(group, "SIGKILL");
  }, GRACE_MS);
  await closed;
  await until("the programs in the background to end", () => !groups.some(isAlive));
  clearTimeout(timer);
}

/** Whether a process group has a process. */
function isAlive(group: number): boolean {
  try {
    return group > 1 && process.kill(-group, 0);
  } catch {
    return false;
  }
}
