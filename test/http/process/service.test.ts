import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { readConfig } from "../../../http/process/config.js";
import { createLog } from "../../../http/process/log.js";
import { startService } from "../../../http/process/service.js";

/**
 * Tests starts of the service in this process. If a start fails, the program prints the error's message, which
 * `main.test.ts` tests.
 */

async function readFolder(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-service-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const start = (folder: string, settings: Readonly<Record<string, string>> = {}) =>
  startService({ config: readConfig({ DATA_DIR: folder, PORT: "0", ...settings }), log: createLog("silent") });

/** Starts the service and stops it again. */
async function starts(folder: string, settings: Readonly<Record<string, string>> = {}): Promise<void> {
  await (await start(folder, settings)).stop();
}

t.test("another key than secrets were encrypted with stops the start with one line, and changes nothing", async (t) => {
  const folder = await readFolder(t);
  const keyFile = join(folder, "secrets.key");
  const isRefused = (message: RegExp, settings: Readonly<Record<string, string>> = {}) =>
    t.rejects(start(folder, settings), { name: "WrongSetting", message });
  await starts(folder);
  const kept = await readFile(keyFile, "utf8");
  const other = Buffer.alloc(32, 7).toString("base64");
  await isRefused(/^SECRETS_KEY: the secrets in [^\n]+ are encrypted with another key: [^\n]+$/, {
    SECRETS_KEY: other,
  });
  await rm(keyFile);
  await isRefused(/^SECRETS_KEY: the secrets in [^\n]+ are encrypted with a key that is missing: [^\n]+$/);
  await t.rejects(readFile(keyFile), "none is made");
  await starts(folder, { SECRETS_KEY: kept.trim() });
  await starts(folder, { SECRETS_KEY: other, SECRETS_KEY_LOST: "yes" });
  await isRefused(/^SECRETS_KEY: .* another key:/, { SECRETS_KEY: kept.trim() });
  await starts(folder, { SECRETS_KEY: other });
});

t.test("a port that is taken stops the start with one line, and leaves the folder to the next", async (t) => {
  const folder = await readFolder(t);
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  t.teardown(() => new Promise((resolve) => other.close(resolve)));
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const refused = {
    name: "WrongSetting",
    message: new RegExp(`^HOST, PORT: cannot listen on 127\\.0\\.0\\.1:${port}: [^\\n]+$`),
  };
  const inside = join(folder, "of", "the", "service");
  await t.rejects(start(inside, { PORT: String(port) }), refused);
  t.same(await readdir(folder), [], "no folder is made");
  await starts(folder);
  for (const TRANSPORT of ["uws", "node"]) await t.rejects(start(folder, { PORT: String(port), TRANSPORT }), refused);
  await starts(folder);
});

t.test("that links would name no single address is said at the start, unless BASE_URL is set", async (t) => {
  const warned = async (settings: Readonly<Record<string, string>>): Promise<string[]> => {
    const lines: string[] = [];
    const log = createLog("warn", { write: (line) => void lines.push(line) });
    // Use the transport `node`: the default transport adds a warning if uWebSockets.js cannot be loaded.
    const config = readConfig({ DATA_DIR: await readFolder(t), PORT: "0", TRANSPORT: "node", ...settings });
    await (await startService({ config, log })).stop();
    return lines;
  };
  for (const HOST of ["0.0.0.0", "::"]) {
    const [line = "", ...more] = await warned({ HOST });
    t.match(line, /BASE_URL/);
    t.same(more, []);
    t.same(await warned({ HOST, BASE_URL: "https://signalbox.example" }), []);
  }
  t.same(await warned({}), []);
});
