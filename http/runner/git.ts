import { execFile } from "node:child_process";

/** Longest output taken from git, in bytes. */
const MAX_BUFFER = 256 * 1024 * 1024;

/** Git said no; the message holds what it said. */
export class GitFailed extends Error {
  override readonly name = "GitFailed";
}

const hardened = [
  ...["-c", "core.hooksPath=/dev/null"],
  ...["-c", "core.fsmonitor=false"],
  ...["-c", "protocol.ext.allow=never"],
  ...["-c", "submodule.recurse=false"],
  ...["-c", "diff.external="],
  ...["-c", "user.name=Signalbox"],
  ...["-c", "user.email=signalbox@localhost"],
];

/**
 * Runs git in a folder: no hooks, no prompts, no configuration of the machine or the user, nothing that a repository
 * could make it start. Rejects with {@link GitFailed}.
 */
export function git(folder: string, args: readonly string[], input = ""): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      "git",
      [...hardened, ...args],
      {
        cwd: folder,
        maxBuffer: MAX_BUFFER,
        env: {
          PATH: process.env.PATH ?? "",
          LANG: "C",
          HOME: folder,
          GIT_CONFIG_NOSYSTEM: "1",
          GIT_CONFIG_GLOBAL: "/dev/null",
          GIT_TERMINAL_PROMPT: "0",
          GIT_LFS_SKIP_SMUDGE: "1",
          ...(process.env.SSH_AUTH_SOCK === undefined ? {} : { SSH_AUTH_SOCK: process.env.SSH_AUTH_SOCK }),
        },
      },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new GitFailed(`git ${args[0]}: ${(stderr || error.message).trim()}`));
      },
    );
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });
}
