import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { ChildProgram } from "../processes/child-program.js";
import { until } from "../support/until.js";

const program = fileURLToPath(new URL("run.js", import.meta.url));

/** Starts the chaos program. The program creates its folders in a temporary folder of the test. */
function start(t: Test, args: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-chaos-test-"));
  const env = { ...process.env, TMPDIR: folder };
  const chaos = new ChildProgram(
    spawn(process.execPath, [program, ...args], { env, stdio: ["ignore", "pipe", "pipe"] }),
  );
  t.teardown(async () => {
    await chaos.end("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  });
  return { chaos, folder };
}

t.test(
  "arguments that mean nothing are answered with what is wrong, the usage and 2: nothing was broken",
  async (t) => {
    for (const [args, why] of [
      [["--bogus"], /Unknown option '--bogus'/],
      [["stray"], /Unexpected argument 'stray'/],
      [["--rounds"], /'--rounds <value>' argument missing/],
      [["--rounds", "-1"], /argument is ambiguous/],
      [["--rounds", "0"], /^--rounds is a whole number from 1, not 0$/],
    ] as const) {
      const { chaos } = start(t, args);
      t.equal(await chaos.ended, 2, args.join(" "));
      t.match(chaos.output[0], why);
      t.ok(chaos.output.some((line) => line.startsWith("npm run chaos -- ")));
      t.notOk(
        chaos.output.some((line) => /^\s+at /.test(line)),
        "no stack",
      );
    }
  },
);

t.test("broken off while its world is opened, it leaves no folder", async (t) => {
  const { chaos, folder } = start(t, ["--rounds", "1", "--only", "service stopped"]);
  await until("its folder is there", () => readdirSync(folder).find((name) => name.startsWith("signalbox-chaos-")));
  t.equal(await chaos.end("SIGINT"), 130);
  t.same(readdirSync(folder), []);
});
