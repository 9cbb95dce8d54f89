import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Packs the build into the release file `signalbox-<version>.tgz` and prints the file's path. Usage: `node pack.mjs
 * [folder]`; the default is the current folder. Packs a copy, `dist/package`, which differs from the clone:
 *
 * - The copy depends only on the packages that the bundled programs load, in the versions that the clone was tested
 *   with.
 * - The copy contains uWebSockets.js with the binaries for Linux only. On other systems the service uses node:http.
 */

const [target = "."] = process.argv.slice(2);
const stage = "dist/package";

/** The binaries of uWebSockets.js in the package: for each processor, `process.versions.modules` of Node 20, 22 and 24. */
const binaries = ["x64", "arm64"].flatMap((arch) => [115, 127, 137].map((abi) => `uws_linux_${arch}_${abi}.node`));
const NATIVE = "uWebSockets.js";

const { scripts: _scripts, devDependencies: _tools, overrides: _pins, allowScripts: _denied, ...manifest } = read(".");
const loaded = JSON.parse(readFileSync("dist/loaded-packages.json", "utf8"));
const versions = loaded
  .filter((name) => name in manifest.dependencies)
  .map((name) => [name, read(join("node_modules", name)).version]);

rmSync(stage, { recursive: true, force: true });
for (const path of [...manifest.files, "LICENSE", "README.md"]) {
  cpSync(path, join(stage, path), { recursive: true });
}
write(stage, { ...manifest, dependencies: Object.fromEntries(versions), bundleDependencies: [NATIVE] });
stageNative(join("node_modules", NATIVE), join(stage, "node_modules", NATIVE));

const [{ filename }] = JSON.parse(
  execFileSync("npm", ["pack", `./${stage}`, "--json", "--ignore-scripts", "--pack-destination", target], {
    encoding: "utf8",
  }),
);
console.log(join(target, filename));

/** Copies uWebSockets.js without its sources, its pages and the binaries for other systems. */
function stageNative(from, to) {
  const { scripts: _unused, ...kept } = read(from);
  mkdirSync(to, { recursive: true });
  write(to, kept);
  for (const name of readdirSync(from)) {
    if (/^(LICENSE|.*\.m?js)$/.test(name)) copyFileSync(join(from, name), join(to, name));
  }
  for (const name of binaries) copyFileSync(join(from, name), join(to, name));
}

function read(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

function write(folder, manifest) {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}
