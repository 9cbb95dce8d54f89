import { z } from "zod";
import type { FieldError } from "../refusal.js";
import { displayName, slug } from "../resources/fields.js";
import type { Kind } from "../resources/kind.js";

/** The file that an agent reads first. */
const ENTRY = "SKILL.md";
const MAX_FILES = 100;
const MAX_BYTES = 512 * 1024;

const file = z.strictObject({
  path: z
    .string()
    .max(255, "must be at most 255 characters")
    .refine(
      isRelativePath,
      "must be a relative path such as scripts/run.sh, without .., .git, \\ or control characters",
    )
    .describe("Relative path within the skill, such as `scripts/run.sh`; at most 255 characters."),
  content: z.string().describe("Text content of the file; all files of a skill at most 512 KiB."),
});

const schema = z.strictObject({
  key: slug.describe("Names the skill within its team; lowercase words joined by dashes. Fixed after the create."),
  name: displayName.describe("Title of the skill for people, 1 to 100 characters."),
  description: z
    .string()
    .max(1_024, "must be at most 1024 characters")
    .default("")
    .describe("Tells the agent when to use the skill; at most 1024 characters."),
  files: z
    .array(file)
    .min(1, `must contain exactly one ${ENTRY}`)
    .max(MAX_FILES, `must be at most ${MAX_FILES} files`)
    .describe("Files of the skill, 1 to 100; exactly one is `SKILL.md`."),
});

export type SkillFields = z.output<typeof schema>;

/** Files that teach an agent how to do something. Stations name the skills of their runs. */
export const skillKind: Kind<SkillFields> = {
  name: "skill",
  plural: "skills",
  idPrefix: "skill",
  heldBy: "team",
  permission: "configure",
  schema,
  fixed: ["key"],
  hcl: {
    folders: [
      {
        folder: "skills",
        texts: ({ files }) =>
          files.map(({ path, content }, index) => ({ path: `files[${index}].content`, name: path, content })),
      },
    ],
  },
  hidden: [],
  address: (fields, teamKey) => `${teamKey}/${fields.key}`,
  references: () => [],
  title: ({ name }) => name,
  validate: ({ files }) => validateFiles(files),
};

/**
 * Validates the paths, the entry file and the total size. Compares paths without regard to case, because some file
 * systems cannot store two paths that differ only in case.
 */
function validateFiles(files: SkillFields["files"]): readonly FieldError[] {
  const paths = files.map(({ path }) => path.toLowerCase());
  const first = new Map<string, number>();
  for (const [index, path] of paths.entries()) if (!first.has(path)) first.set(path, index);
  const folders = new Set(paths.flatMap(listFolders));
  const errors = paths.flatMap((path, index): FieldError[] => {
    const at = `files[${index}].path`;
    if ((first.get(path) ?? index) < index) return [{ path: at, message: "stands twice" }];
    return folders.has(path) ? [{ path: at, message: "is the folder of another file" }] : [];
  });
  if (!files.some(({ path }) => path === ENTRY))
    errors.push({ path: "files", message: `must contain exactly one ${ENTRY}` });
  const bytes = files.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  if (bytes > MAX_BYTES) errors.push({ path: "files", message: `must be at most ${MAX_BYTES / 1_024} KiB together` });
  return errors;
}

function listFolders(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

function isRelativePath(path: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the check rejects control characters
  if (/[\\:\u0000-\u001f\u007f]/.test(path)) return false;
  return path.split("/").every((part) => !/^(\.{0,2}|\.git)$/i.test(part) && part === part.trim());
}
