import { deepEqual, equal, match, ok } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { createInterface } from "node:readline";

/**
 * `node dist/test/packed/installed.js <prefix>` checks a package that npm installed globally below the folder
 * `<prefix>`. Ends with an error at the first check that fails:
 *
 * 1. Prints the bytes of each installed package. The total must be at most 150 MB.
 * 2. Starts the service, which must use uWebSockets.js if this machine can load the binary.
 * 3. Starts the service without the binary, so that it must use node:http.
 */
const [prefix = ""] = process.argv.slice(2);
const root = join(prefix, "lib/node_modules/signalbox");
const MOST_BYTES = 150e6;
/** File systems store files in blocks of this size. */
const BLOCK_BYTES = 4_096;

/** Returns the bytes on disk of each package below the folder, by name. */
function measure(): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const path of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    const stat = lstatSync(join(root, path));
    if (!stat.isFile()) continue;
    const [, scope = "signalbox", name] = path.startsWith("node_modules") ? path.split(sep) : [];
    const owner = scope.startsWith("@") ? `${scope}/${name}` : scope;
    sizes.set(owner, (sizes.get(owner) ?? 0) + Math.ceil(stat.size / BLOCK_BYTES) * BLOCK_BYTES);
  }
  return sizes;
}

/**
 * Starts the installed service, sends a request, and drains the service. Returns the service's log and the response's
 * headers.
 */
async function serve(): Promise<{ readonly log: string; readonly headers: Headers }> {
  const data = mkdtempSync(join(tmpdir(), "signalbox-installed-"));
  const child = spawn(process.execPath, [join(root, "http/cli/signalbox.mjs"), "serve"], {
    env: { PATH: process.env.PATH ?? "", PORT: "0", DATA_DIR: data },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  try {
    let log = "";
    for await (const line of createInterface(child.stdout)) {
      log += `${line}\n`;
      if (line.includes("listening on")) break;
    }
    const [, url = ""] = /listening on (http:[^"\s]+)/.exec(log) ?? [];
    const { status, headers } = await fetch(`${url}/runner.mjs`);
    equal(status, 200, log);
    child.kill("SIGTERM");
    deepEqual(await ended, [0, null]);
    return { log, headers };
  } finally {
    child.kill("SIGKILL");
    rmSync(data, { recursive: true, force: true });
  }
}

const WITHOUT = /cannot load uWebSockets\.js here; using node:http instead/;

/**
 * Whether the binaries work on this machine. The table of settings gives the minimum version of glibc: 2.27 for Node
 * 20, 2.38 for Node 22 and 24.
 */
function hasNative(): boolean {
  const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  const minor = Number(header.glibcVersionRuntime?.split(".")[1] ?? 0);
  const needed = process.versions.modules === "115" ? 27 : 38;
  return process.platform === "linux" && minor >= needed;
}

const sizes = [...measure()].sort(([, one], [, other]) => other - one);
const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
for (const [name, bytes] of [...sizes, ["installed", total] as const]) {
  console.log(`${(bytes / 1e6).toFixed(1).padStart(8)} MB  ${name}`);
}
ok(total <= MOST_BYTES, `${total} bytes are installed, more than ${MOST_BYTES}`);

const native = join(root, "node_modules/uWebSockets.js");
const binary = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
ok(readdirSync(native).includes(binary), `the package has ${binary}`);
const { log, headers } = await serve();
equal(headers.has("uwebsockets"), hasNative(), log);
equal(WITHOUT.test(log), !hasNative(), log);
console.log(`Node ${process.version} serves with ${hasNative() ? "uWebSockets.js" : "node:http: glibc is too old"}`);

renameSync(join(native, binary), join(native, `${binary}.away`));
try {
  const without = await serve();
  match(without.log, WITHOUT);
  equal(without.headers.has("uwebsockets"), false);
  console.log("without its binary it serves with node:http, and logs so");
} finally {
  renameSync(join(native, `${binary}.away`), join(native, binary));
}
