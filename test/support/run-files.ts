import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";

const program = fileURLToPath(new URL("../run.js", import.meta.url));
const tapModule = import.meta.resolve("tap");

/** The result of a run of the test runner. */
export interface Ran {
  readonly code: unknown;
  readonly output: string;
  readonly lastLine: string;
}

/** Writes test files with these bodies, by name, and runs them like `npm test`. */
export async function runFiles(t: Test, bodies: Readonly<Record<string, string>>, ...args: string[]): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-run-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "seen.mjs"), "export const seen = { n: 0 };");
  const files = Object.entries(bodies).map(([name, body]) => {
    const file = join(folder, `${name}.test.mjs`);
    writeFileSync(file, `import t from ${JSON.stringify(tapModule)};\n${body}\n`);
    return file;
  });
  const child = spawn(process.execPath, [program, ...args, ...files], { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(() => void child.kill("SIGKILL"));
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  return { code, output, lastLine: output.trimEnd().split("\n").at(-1) ?? "" };
}

/** The body of a file with two passing checks. */
export const passing = `t.test("holds", async (t) => { t.ok(1); t.ok(1); });`;
