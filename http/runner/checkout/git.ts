import { copyFile, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { ProcessGroup } from "../process/process-group.js";
import { MARK } from "../process/process-marks.js";

/** Default maximum size of git's output, in bytes. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** How much of the end of git's error output to retain, in characters. */
const MAX_ERROR_CHARACTERS = 8_192;

/** Git failed, or a repository does not have what it must have. The message may contain git's error output. */
export class GitFailed extends Error {
  override readonly name = "GitFailed";
  constructor(
    message: string,
    /** Git's exit code. Null if a signal ended git, or if something other than git failed. */
    readonly exitCode: number | null = null,
  ) {
    super(message);
  }
}

/** Git printed more than the limit. */
export class OutputTooLong extends Error {
  override readonly name = "OutputTooLong";
}

export interface GitOptions {
  /** Standard input. Text is sent as UTF-8. */
  readonly input?: string | Buffer;
  /** Additional environment variables, such as another git directory. */
  readonly env?: Readonly<Record<string, string>>;
  /** Kills git when aborted. */
  readonly signal?: AbortSignal;
  readonly maxBytes?: number;
  /** True for untrusted input: limits git to the memory and processor time that the largest allowed pack needs. */
  readonly isLimited?: boolean;
  /** A secret that git can read from descriptor 3 (see `Launch`). */
  readonly secret?: string;
  /** Receives the end of git's error output, also after success. */
  readonly warned?: (text: string) => void;
}

/** Limits memory to 4 GiB and processor time to 600 seconds. The shell sets both limits and then becomes git. */
const LIMITED = 'ulimit -v 4194304; ulimit -t 600; exec git "$@"';

const hardened = [
  ...["-c", "core.hooksPath=/dev/null"],
  ...["-c", "core.fsmonitor=false"],
  ...["-c", "core.attributesFile=/dev/null"],
  ...["-c", "core.excludesFile=/dev/null"],
  ...["-c", "advice.addEmbeddedRepo=false"],
  // Run housekeeping within the fetch, so that nothing copies from a mirror at the same time.
  ...["-c", "gc.autoDetach=false"],
  ...["-c", "maintenance.autoDetach=false"],
  ...["-c", "submodule.recurse=false"],
  // Fail if a server sends nothing for two minutes.
  ...["-c", "http.lowSpeedLimit=1"],
  ...["-c", "http.lowSpeedTime=120"],
  ...["-c", "user.name=Signalbox"],
  ...["-c", "user.email=signalbox@localhost"],
];

/** Environment variables of the runner that git may need to reach other machines. */
const network = [
  ...["HOME", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"],
];

/**
 * Runs git in a folder. Git runs no hooks and no other program that a repository could configure. Git does not prompt,
 * and does not read the configuration of the machine or the user. Rejects with {@link GitFailed} or {@link
 * OutputTooLong}.
 */
export async function git(folder: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  return (await gitBytes(folder, args, options)).toString("utf8");
}

/** Like {@link git}, but returns the raw output. */
export async function gitBytes(folder: string, args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await gitOutput(folder, args, options, (chunk) => void chunks.push(chunk));
  return Buffer.concat(chunks);
}

/**
 * Like {@link git}, but passes the output to `take` in chunks and does not buffer it. Returns the length of the output
 * in bytes.
 */
export async function gitOutput(
  folder: string,
  args: readonly string[],
  options: GitOptions,
  take: (chunk: Buffer) => void,
): Promise<number> {
  const { input = "", env = {}, signal, maxBytes = MAX_OUTPUT_BYTES, isLimited = false } = options;
  if (signal?.aborted) throw new GitFailed(`git ${args[0]}: it was aborted`);
  const group = await ProcessGroup.start({
    argv: isLimited ? ["/bin/sh", "-c", LIMITED, "git", ...hardened, ...args] : ["git", ...hardened, ...args],
    cwd: folder,
    // Set the mark only in the environment. Git leaves no processes behind, so the process group need not search for
    // marked processes. If something kills this runner, the next runner finds git by the mark.
    env: { ...environment(), ...env, [MARK]: join(folder, "git") },
    mark: null,
    ...(options.secret !== undefined && { secret: options.secret }),
  }).catch((error: unknown) => {
    throw new GitFailed(`cannot start git: ${error instanceof Error ? error.message : String(error)}`);
  });
  const kill = () => group.kill();
  signal?.addEventListener("abort", kill, { once: true });
  // Kill git now if the signal was aborted while git was starting.
  if (signal?.aborted) kill();
  let bytes = 0;
  let errors = "";
  group.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) group.kill();
    else take(chunk);
  });
  group.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-MAX_ERROR_CHARACTERS);
  });
  group.child.stdin?.end(input);
  const { exitCode } = await group.ended;
  signal?.removeEventListener("abort", kill);
  options.warned?.(errors);
  if (bytes > maxBytes) throw new OutputTooLong(`git ${args[0]} printed more than ${maxBytes} bytes`);
  if (exitCode === 0) return bytes;
  throw new GitFailed(`git ${args[0]}: ${errors.trim() || `it exited with ${exitCode ?? "a signal"}`}`, exitCode);
}

function environment(): Record<string, string> {
  const passed = network.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    PATH: process.env.PATH ?? "/usr/bin:/bin",
    LANG: "C",
    ...Object.fromEntries(passed),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "true",
    GIT_SSH_COMMAND: "ssh -o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=30",
    GIT_ALLOW_PROTOCOL: "file:git:http:https:ssh",
    GIT_LFS_SKIP_SMUDGE: "1",
  };
}

/**
 * Copies an index with its modification time. By that time, git finds files that may have changed within the same
 * second, after git examined them.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  const { atime, mtime } = await stat(from);
  await copyFile(from, to);
  await utimes(to, atime, mtime);
}
