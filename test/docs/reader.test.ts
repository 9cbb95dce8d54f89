import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import t from "tap";
import { until } from "../support/until.js";

/** A test that starts a program in the background, prints its process id and its folder, and goes on. */
const program = `
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openReader } from ${JSON.stringify(new URL("../support/reader.js", import.meta.url).href)};
const reader = openReader({ teardown: () => undefined });
await reader.run("set -m; sleep 1000 & set +m; echo $! >>../groups; echo $! >pid");
console.log(JSON.stringify([Number(readFileSync(join(reader.repository, "pid"), "utf8")), reader.home]));
setInterval(() => undefined, 1_000);
`;

t.test("the programs of a reader end with the test, even if it is killed", async (t) => {
  const test = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(test.stdout, "data")) as [Buffer];
  const [pid, home] = JSON.parse(String(line)) as [number, string];
  t.ok(isAlive(pid));
  const closed = once(test, "exit");
  test.kill("SIGKILL");
  await closed;
  await until("the program to end", () => !isAlive(pid));
  await until("the folder to be removed", () => !existsSync(home));
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
