import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import t from "tap";

const demo = fileURLToPath(new URL("../../../http/demo/main.js", import.meta.url));

t.test("the demo ends as it should: all tasks done, two sent back, one veto, every request verified", async (t) => {
  const { stdout } = await promisify(execFile)(process.execPath, [demo, "--exit"]);
  t.match(stdout, /6 of 6 tasks done, 10 moves, 2 sent back by review/);
  t.match(stdout, /hooks fired, \d+ requests verified, 0 not/);
  t.match(stdout, /1 handovers refused by the before-hook/);
  t.match(stdout, /refused\. Reason: the note must name the file/);
});
