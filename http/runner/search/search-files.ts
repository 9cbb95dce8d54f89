import { createHash } from "node:crypto";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { MAX_BYTES, MAX_FILE_BYTES } from "../../../actors/searches/agent/bounds.js";
import type { RunFolder } from "../checkout/run-folder.js";
import { PROPOSE_SCRIPT } from "./propose-script.js";
import { type SearchClient, SearchRefused } from "./search-client.js";
import { SEARCH_SKILL } from "./skill.js";

/** Maximum number of attempts to list the files: they may change between the list and the fetch. */
const MOST_LISTS = 3;

export interface LayOut {
  readonly folder: RunFolder;
  readonly client: Pick<SearchClient, "list" | "file">;
  readonly claim: { readonly runId: string; readonly fence: number };
  readonly signal: AbortSignal;
}

/**
 * Writes the material for a search's agent: the service's files, the skill that explains them, and the program with
 * which any agent can propose. Rejects with {@link SearchRefused}, also for a path that leads out of the folder.
 */
export async function laySearchFiles({ folder, client, claim, signal }: LayOut): Promise<void> {
  const { search } = folder;
  const written = new Map<string, string>();
  let isWhole = false;
  for (let lists = 0; lists < MOST_LISTS && !isWhole; lists++) {
    isWhole = true;
    const { files, leftOut } = await client.list(claim, signal);
    if (files.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_BYTES) throw new SearchRefused("the files are too long");
    for (const { file, path, digest } of files) {
      if (written.get(path) === digest) continue;
      const content = await client.file(claim, file, signal);
      if (content.length > MAX_FILE_BYTES) throw new SearchRefused(`the file ${path} is too long`);
      const found = createHash("sha256").update(content).digest("hex");
      await writeInto(search, path, content);
      written.set(path, found);
      // A replay's judge may add its result while the runner fetches files.
      isWhole &&= found === digest;
    }
    await writeInto(search, "left-out.json", Buffer.from(`{"files":${leftOut}}\n`));
  }
  for (const made of [folder.proposals, folder.answers]) await mkdir(made, { recursive: true });
  const propose = join(search, "propose");
  await writeFile(propose, PROPOSE_SCRIPT);
  await chmod(propose, 0o755);
  await folder.writeSkills([SEARCH_SKILL]);
}

async function writeInto(folder: string, path: string, content: Uint8Array): Promise<void> {
  const target = join(folder, path);
  if (!target.startsWith(`${folder}${sep}`)) throw new SearchRefused(`the path ${path} leads outside its folder`);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, content);
}
