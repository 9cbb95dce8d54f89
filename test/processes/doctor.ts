import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const main = fileURLToPath(new URL("../../http/cli/main.js", import.meta.url));

/** Runs the doctor on a stopped service's folder; returns its findings, one per line. */
export async function askDoctor(folder: string): Promise<readonly string[]> {
  const said = await promisify(execFile)(process.execPath, [main, "doctor", "--data", folder]).catch(
    (error: { readonly stdout: string; readonly stderr: string }) => error,
  );
  const isWhole = !(said instanceof Error) && said.stdout.trimEnd().endsWith(" is whole");
  return isWhole ? [] : `${said.stdout}${said.stderr}`.trim().split("\n");
}
