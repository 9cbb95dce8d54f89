import { copyFile, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { ProcessGroup } from "../process/process-group.js";
import { MARK } from "../process/process-marks.js";

/** Longest output of git by default, in bytes. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** Longest error output that is kept, in characters, from its end. */
const MAX_ERROR_CHARACTERS = 8_192;

/** Git failed; the message has its error output. */
export class GitFailed extends Error {
  override readonly name = "GitFailed";
  constructor(
    message: string,
    /** What git exited with; null when a signal ended it, or it was not git that failed. */
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
  /** Standard input; text is sent as UTF-8. */
  readonly input?: string | Buffer;
  /** Further environment, such as another git directory. */
  readonly env?: Readonly<Record<string, string>>;
  /** Kills git when aborted. */
  readonly signal?: AbortSignal;
  readonly maxBytes?: number;
  /** For input that others made: git gets no more memory and processor time than a pack of the longest needs. */
  readonly isLimited?: boolean;
  /** What git may read from descriptor 3 (see `Launch`). */
  readonly secret?: string;
  /** Gets the end of what git printed to its error output, also where it succeeds. */
  readonly warned?: (text: string) => void;
}

/** Memory in KiB, and seconds of a processor: a shell sets them for itself, and becomes git. */
const LIMITED = 'ulimit -v 4194304; ulimit -t 600; exec git "$@"';

const hardened = [
  ...["-c", "core.hooksPath=/dev/null"],
  ...["-c", "core.fsmonitor=false"],
  ...["-c", "core.attributesFile=/dev/null"],
  ...["-c", "core.excludesFile=/dev/null"],
  ...["-c", "advice.addEmbeddedRepo=false"],
  // Housekeeping is part of the fetch, so that nobody copies from a mirror during it.
  ...["-c", "gc.autoDetach=false"],
  ...["-c", "maintenance.autoDetach=false"],
  ...["-c", "submodule.recurse=false"],
  // Fails when a server sends nothing for two minutes.
  ...["-c", "http.lowSpeedLimit=1"],
  ...["-c", "http.lowSpeedTime=120"],
  ...["-c", "user.name=Signalbox"],
  ...["-c", "user.email=signalbox@localhost"],
];

/** Variables of the runner's environment that git may need to reach other machines. */
const network = [
  ...["HOME", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"],
];

/**
 * Runs git in a folder, without hooks, prompts, configuration of the machine or the user, or anything else that a
 * repository could make it run. Rejects with {@link GitFailed} or {@link OutputTooLong}.
 */
export async function git(folder: string, args: readonly string[], options: GitOptions = {}): Promise<string> {
  return (await gitBytes(folder, args, options)).toString("utf8");
}

/** Like {@link git}, with the raw output. */
export async function gitBytes(folder: string, args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await gitOutput(folder, args, options, (chunk) => void chunks.push(chunk));
  return Buffer.concat(chunks);
}

/** Like {@link git}, for output that is not held in memory: `take` gets each part of it. Returns its length in bytes. */
export async function gitOutput(
  folder: string,
  args: readonly string[],
  options: GitOptions,
  take: (chunk: Buffer) => void,
): Promise<number> {
  const { input = "", env = {}, signal, maxBytes = MAX_OUTPUT_BYTES, isLimited = false } = options;
  if (signal?.aborted) throw new GitFailed(`git ${args[0]}: it was ended`);
  const group = await ProcessGroup.start({
    argv: isLimited ? ["/bin/sh", "-c", LIMITED, "git", ...hardened, ...args] : ["git", ...hardened, ...args],
    cwd: folder,
    // Git leaves no processes to find at its end; the mark is for the next runner, in case this one is killed.
    env: { ...environment(), ...env, [MARK]: join(folder, "git") },
    mark: null,
    ...(options.secret !== undefined && { secret: options.secret }),
  }).catch((error: unknown) => {
    throw new GitFailed(`git cannot be started: ${error instanceof Error ? error.message : String(error)}`);
  });
  const kill = () => group.kill();
  signal?.addEventListener("abort", kill, { once: true });
  // The signal may have been aborted while git was starting.
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
  throw new GitFailed(`git ${args[0]}: ${errors.trim() || `it ended with ${exitCode ?? "a signal"}`}`, exitCode);
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
 * Copies an index with its date: by it git knows which files may have changed after they were looked at, within the
 * second in which they were written.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  const { atime, mtime } = await stat(from);
  await copyFile(from, to);
  await utimes(to, atime, mtime);
}
