import { execFile } from "node:child_process";
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { promisify } from "node:util";
import type { Job } from "../../../actors/runners/protocol.js";
import type { ProcessGroup } from "../process/process-group.js";
import { noteOf } from "../process/process-marks.js";

/** Where the processes of a run are noted, a line each. */
export const PROCESSES = "processes";

/** Any identity will do for commits that stay where they are. */
const GIT_CONFIG = "[user]\n\tname = Signalbox agent\n\temail = agent@localhost\n";

/**
 * The folder of one run: `checkouts/<owner>/<name>`, `records/` (how changes are found out), `context/` (what the agent
 * reads, its skills among it), `home/` (its HOME) and `temporary/`. It is removed at the end of the run.
 */
export class RunFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(workFolder: string, job: Pick<Job, "runId" | "fence">): Promise<RunFolder> {
    const folder = new RunFolder(join(workFolder, "runs", `${job.runId.replace(/[^A-Za-z0-9_]/g, "")}-${job.fence}`));
    await rm(folder.path, { recursive: true, force: true });
    for (const path of [folder.home, folder.temporary]) await mkdir(path, { recursive: true, mode: 0o700 });
    await mkdir(folder.context, { recursive: true });
    await mkdir(folder.checkouts, { recursive: true });
    await writeFile(join(folder.home, ".gitconfig"), GIT_CONFIG);
    return folder;
  }

  get home(): string {
    return join(this.path, "home");
  }

  get temporary(): string {
    return join(this.path, "temporary");
  }

  get context(): string {
    return join(this.path, "context");
  }

  get checkouts(): string {
    return join(this.path, "checkouts");
  }

  /** Where the skills of the run lie, a folder each. */
  get skills(): string {
    return join(this.context, "skills");
  }

  /** Lays out the files of the run's skills. */
  async laySkills(skills: Job["skills"]): Promise<void> {
    await mkdir(this.skills, { recursive: true });
    for (const { key, files } of skills) {
      const folder = join(this.skills, key);
      for (const { path, content } of files) {
        const target = join(folder, path);
        if (!target.startsWith(`${folder}${sep}`)) throw new Error(`the skill ${key} holds the path ${path}`);
        await mkdir(dirname(target), { recursive: true });
        await writeFile(target, content);
      }
    }
  }

  checkout(repository: string): string {
    return join(this.checkouts, repository);
  }

  record(repository: string): string {
    return join(this.path, "records", `${repository}.git`);
  }

  /** The mark of what this run starts. */
  get mark(): string {
    return `${this.path}/`;
  }

  /** Notes a process of the run, so that the next runner can end it should this one be killed. */
  async note(group: ProcessGroup): Promise<void> {
    await appendFile(join(this.path, PROCESSES), `${noteOf(group.pid)}\n`);
  }

  /** Rejects when something of it cannot be removed. */
  remove(): Promise<void> {
    return removeAll(this.path);
  }
}

/** Removes a folder, also one that holds folders nobody may write to. Rejects when something is left. */
export async function removeAll(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 3 } as const;
  try {
    await rm(path, options);
  } catch {
    await promisify(execFile)("chmod", ["-R", "u+rwX", "--", path]).catch(() => undefined);
    await rm(path, options);
  }
}
