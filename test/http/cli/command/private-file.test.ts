import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { z } from "zod";
import { readPrivateFile, writePrivateFile } from "../../../../http/cli/command/private-file.js";

t.test("a file that cannot be replaced stays, without a temporary file beside it", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-private-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "taken/inside"), { recursive: true });
  t.throws(() => writePrivateFile(join(folder, "taken"), {}));
  t.same(readdirSync(folder), ["taken"]);
  t.end();
});

t.test("a file with other content is refused with its path and what to do", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-private-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "file.json");
  writeFileSync(path, "{");
  const message = `${path} is not valid: delete it and run the command again`;
  t.throws(() => readPrivateFile(path, z.object({})), { message });
  t.equal(readPrivateFile(join(folder, "none.json"), z.object({})), null);
  t.end();
});
