import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Job } from "../../actors/runners/protocol.js";
import { killGroup, type ProcessGroup, startTime } from "./process-group.js";

/**
 * The folder of one run: `checkouts/`, `context/` (what the agent reads), `home/` (its HOME and TMPDIR), `agent.pid`.
 * It is removed at the end of the run.
 */
export class RunFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(workFolder: string, job: Pick<Job, "runId" | "fence">): Promise<RunFolder> {
    const folder = new RunFolder(join(workFolder, "runs", `${job.runId.replace(/[^A-Za-z0-9_]/g, "")}-${job.fence}`));
    await rm(folder.path, { recursive: true, force: true });
    await mkdir(folder.home, { recursive: true, mode: 0o700 });
    await mkdir(folder.context, { recursive: true });
    return folder;
  }

  get home(): string {
    return join(this.path, "home");
  }

  get context(): string {
    return join(this.path, "context");
  }

  checkout(repository: string): string {
    return join(this.path, "checkouts", repository.replace("/", "__"));
  }

  /** Notes the agent's process, so that the next runner can end it should this one be killed. */
  async note(group: ProcessGroup): Promise<void> {
    await writeFile(join(this.path, "agent.pid"), `${group.pid} ${startTime(group.pid) ?? ""}`);
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Ends the agents that a killed runner left running, and removes their folders. Gives how many were found. */
export async function clearLeftovers(workFolder: string): Promise<number> {
  const runs = join(workFolder, "runs");
  if (!existsSync(runs)) return 0;
  const left = await readdir(runs);
  for (const name of left) {
    const noted = await readFile(join(runs, name, "agent.pid"), "utf8").catch(() => "");
    const [pid, started] = noted.split(" ");
    // A pid alone may have been given to another process since.
    if (pid !== undefined && started !== undefined && started !== "" && startTime(Number(pid)) === started) {
      killGroup(Number(pid), "SIGKILL");
    }
    await rm(join(runs, name), { recursive: true, force: true, maxRetries: 3 });
  }
  return left.length;
}
