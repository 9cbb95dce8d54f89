import { constants } from "node:fs";
import { access, open, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";

/** How many bytes of a script's first line to read. */
const FIRST_LINE_BYTES = 256;

/**
 * Returns the reason why a program cannot start, as a clause. Returns null in these cases:
 *
 * - The program can start.
 * - The answer depends on the folder in which the program starts, because its path or a folder in `PATH` is relative.
 */
export async function whyNotStarted(
  program: string,
  searched = "/usr/local/bin:/usr/bin:/bin",
): Promise<string | null> {
  if (program === "") return "its name is empty";
  if (program.includes("/")) return isAbsolute(program) ? whyNotExecuted(program) : null;
  const folders = searched.split(":");
  for (const folder of folders) if (isAbsolute(folder) && (await isExecutable(join(folder, program)))) return null;
  if (folders.some((folder) => !isAbsolute(folder))) return null;
  return "it is not in a folder of PATH";
}

async function whyNotExecuted(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return "there is no such file";
  if (!found.isFile()) return "it is not a file";
  if (!(await isExecutable(path))) return "it is not executable";
  const interpreter = await findInterpreter(path);
  return interpreter === null || (await isExecutable(interpreter))
    ? null
    : `its interpreter ${interpreter} does not exist or is not executable`;
}

async function isExecutable(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  if (found?.isFile() !== true) return false;
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Returns the program that a script's first line names. Returns null if the file is no script or is unreadable. */
async function findInterpreter(path: string): Promise<string | null> {
  const file = await open(path, "r").catch(() => null);
  if (file === null) return null;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_LINE_BYTES), 0, FIRST_LINE_BYTES, 0);
    const [, named] = /^#!\s*(\/\S+)/.exec(buffer.toString("latin1", 0, bytesRead)) ?? [];
    return named ?? null;
  } finally {
    await file.close();
  }
}
