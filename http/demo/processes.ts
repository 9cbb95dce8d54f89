import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));

/** Starts the runner in a process of its own. */
export function startRunner(url: string, token: string, folder: string): ChildProcess {
  const args = [
    join(here, "runner.js"),
    ...["--url", url, "--name", "demo", "--slots", "2", "--work-folder", join(folder, "runner")],
    ...["--git-url", join(folder, "repositories", "{name}.git")],
    ...["--command", process.execPath, join(here, "agent.js")],
  ];
  const env = { ...process.env, SIGNALBOX_POOL_TOKEN: token };
  // The runner has its own process group, so Ctrl+C reaches it only through this process. The runner's input pipe
  // closes when this process ends.
  return spawn(process.execPath, args, { env, stdio: ["pipe", "ignore", "inherit"], detached: true });
}

/** Ends the runner's input. The runner then stops, together with everything that it runs. */
export async function endRunner(runner: ChildProcess): Promise<void> {
  runner.removeAllListeners("exit");
  if (runner.exitCode !== null || runner.signalCode !== null) return;
  const gone = once(runner, "exit");
  runner.stdin?.end();
  await gone;
}
