import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Puts a repository with real history at `folder`: a bare clone of the checkout in `project`, or a small one made here
 * when the project is not a git checkout. Gives the number of its commits.
 */
export function layRepository(project: string, folder: string): number {
  mkdirSync(dirname(folder), { recursive: true });
  const git = (cwd: string, ...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Demo", "-c", "user.email=demo@localhost", ...args], {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  if (existsSync(join(project, ".git"))) {
    git(dirname(folder), "clone", "--quiet", "--bare", "--", project, folder);
  } else {
    mkdirSync(folder);
    git(folder, "init", "--quiet", "--initial-branch", "main");
    for (const [index, text] of ["# Notes\n", "# Notes\n\nKept by agents.\n"].entries()) {
      writeFileSync(join(folder, "README.md"), text);
      git(folder, "add", "README.md");
      git(folder, "commit", "--quiet", "--message", index === 0 ? "Begin" : "Say who keeps it");
    }
  }
  return Number(git(folder, "rev-list", "--count", "HEAD").trim());
}
