import { createHash } from "node:crypto";
import type { Refusal } from "../../actors/refusal.js";
import { findAgentContext } from "../../actors/searches/agent/agent-context.js";
import { type AgentFile, findAgentFile, listFileNames } from "../../actors/searches/agent/agent-files.js";
import { MAX_BYTES, MAX_FILES } from "../../actors/searches/agent/bounds.js";
import { fileNameText, parseFileName } from "../../actors/searches/agent/file-name.js";
import type { SearchIterationRow } from "../../actors/searches/search/search.js";
import type { Runtime } from "../../runtime/runtime.js";

interface Shown {
  readonly workspaceId: string;
  readonly iteration: SearchIterationRow;
}

const NOTHING: Refusal = { refused: "not-found" };

interface Listing {
  /** Lets other work run. */
  readonly pause: () => Promise<void>;
  readonly maxBytes?: number;
  readonly maxFiles?: number;
}

/**
 * Lists the files that the agent of an iteration can see, up to the size limits. Creates each file only to measure it,
 * and does not keep it in memory.
 */
export async function listFiles(
  reading: Runtime["reading"],
  { workspaceId, iteration }: Shown,
  { pause, maxBytes = MAX_BYTES, maxFiles = MAX_FILES }: Listing,
) {
  const context = findAgentContext(reading, workspaceId, iteration);
  if (context === undefined) return NOTHING;
  const files: { file: string; path: string; bytes: number; digest: string }[] = [];
  let remaining = maxBytes;
  const names = listFileNames(context);
  let leftOut = Math.max(0, names.length - maxFiles);
  for (const name of names.slice(0, maxFiles)) {
    await pause();
    const made = findAgentFile(context, name);
    if (made === undefined) continue;
    const { path, content } = made;
    const bytes = Buffer.byteLength(content);
    if (bytes > remaining) {
      leftOut += 1;
      continue;
    }
    remaining -= bytes;
    const digest = createHash("sha256").update(content).digest("hex");
    files.push({ file: fileNameText(name), path, bytes, digest });
  }
  return { files, leftOut };
}

/** Returns the file with this name, if the agent can see it. Returns a refusal if there is no such file. */
export function getFile(
  reading: Runtime["reading"],
  { workspaceId, iteration }: Shown,
  text: string,
): AgentFile | Refusal {
  const name = parseFileName(text);
  const context = name === null ? undefined : findAgentContext(reading, workspaceId, iteration);
  const file = name === null || context === undefined ? undefined : findAgentFile(context, name);
  return file ?? NOTHING;
}
