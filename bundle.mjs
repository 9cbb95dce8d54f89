import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

/**
 * Bundles everything that the package contains, into `dist/bundle`. Types are not checked here.
 *
 * - `programs/`: the programs of `signalbox` with the packages that they load, in pieces that they share. A start reads
 *   about thirty files instead of 1,400.
 * - `runner.mjs`: the runner with all its packages in one file, which the service hands out.
 * - `pages/`: scripts of other packages that the service's pages load.
 */

/** Same depth as the compiled sources, and flat, so that paths relative to a program resolve in both. */
const folder = "dist/bundle/programs";
const pages = "dist/bundle/pages";

/** The command, and programs that run as separate processes or threads. */
const programs = [
  "http/cli/main.ts",
  "http/cli/dev/example-agent.ts",
  "http/runner/tools/bridge.ts",
  "actors/config-pull-requests/edit/edit-worker.ts",
];

/** What finds files of its own package: code for the machine, and web assembly. `lmdb` loads `msgpackr` too. */
const unbundled = [
  // The optional packages for traces. `prom-client` needs `@opentelemetry/api`, which is bundled.
  ...["core", "exporter-trace-otlp-http", "resources", "sdk-trace-node"].map((name) => `@opentelemetry/${name}`),
  ...["lmdb", "msgpackr", "uWebSockets.js"],
  ...["web-tree-sitter", "@tree-sitter-grammars/tree-sitter-hcl", "@cdktn/hcl2json", "@cdktn/hcl-tools"],
];

/** Scripts that pages load, by their names in `pages/`. */
const scripts = { "explorer.js": { from: "openapi-explorer", file: "dist/browser/openapi-explorer.min.js" } };

/** Indexes of packages that load all there is. What is missing here and imported anyway fails the build. */
const indexes = {
  // Of the languages in which input can be refused, which are most of zod, the one that is used.
  "zod/v4/locales/index.js": 'export { default as en } from "./en.js";',
  "undici/index.js": `
    export { default as Agent } from "./lib/dispatcher/agent.js";
    import decompress from "./lib/interceptor/decompress.js";
    export const interceptors = { decompress };`,
};

const lessOfPackages = {
  name: "less-of-packages",
  setup({ onLoad }) {
    onLoad({ filter: /\/node_modules\/(zod|undici)\/.*index\.js$/ }, ({ path }) => {
      const contents = indexes[path.slice(path.lastIndexOf("/node_modules/") + "/node_modules/".length)];
      return contents === undefined ? null : { contents };
    });
  },
};

/** @type {import("esbuild").BuildOptions & { readonly metafile: true; readonly write: false }} */
const shared = {
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.15",
  plugins: [lessOfPackages],
  // Names stay, for the traces of errors; what ends with an error prints its line.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 160,
  define: { RELEASE: JSON.stringify(manifestOf(".").version) },
  metafile: true,
  write: false,
  logLevel: "warning",
};
// Packages that are no modules require those of Node.
const banner = 'import { createRequire as toRequire } from "node:module"; const require = toRequire(import.meta.url);';

const [pieces, runner] = await Promise.all([
  build({
    ...shared,
    splitting: true,
    entryPoints: programs,
    outdir: folder,
    entryNames: "[name]",
    chunkNames: "[name]-[hash]",
    external: unbundled,
    banner: { js: banner },
  }),
  build({
    ...shared,
    entryPoints: ["http/runner/one-file.ts"],
    outfile: "dist/bundle/runner.mjs",
    define: { ...shared.define, IS_ONE_FILE: "true" },
    banner: { js: `#!/usr/bin/env node\n${banner}` },
  }),
]);
rmSync("dist/bundle", { recursive: true, force: true });
for (const name of [folder, pages]) mkdirSync(name, { recursive: true });
for (const { path, text } of pieces.outputFiles) writeFileSync(path, inAscii(text));
for (const { path, text } of runner.outputFiles)
  writeFileSync(path, `${inAscii(text)}${asComment(licences(packagesOf(runner)))}`);
for (const [name, { from, file }] of Object.entries(scripts))
  copyFileSync(join("node_modules", from, file), join(pages, name));
const shown = Object.values(scripts).flatMap(({ from }) => withDependencies(join("node_modules", from)));
writeFileSync(join(folder, "LICENSES.txt"), licences([...packagesOf(pieces), ...shown]));
// For pack.mjs: the package depends on these alone.
writeFileSync("dist/loaded-packages.json", JSON.stringify(unbundled));

/** The same program: one letter beyond makes its text take twice the memory. Texts are escaped already, patterns are not. */
function inAscii(program) {
  return program.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The text as a comment of a program. */
function asComment(text) {
  return `\n/*\n${inAscii(text).replaceAll("*/", "* /")}*/\n`;
}

/** The folders of the packages that a bundle contains. */
function packagesOf({ metafile }) {
  return Object.keys(metafile.inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
}

/** The folders of a package and of all that it depends on. */
function withDependencies(path, known = new Set()) {
  if (known.has(path)) return [];
  known.add(path);
  const { dependencies = {} } = manifestOf(path);
  const folders = Object.keys(dependencies).map((name) => {
    const own = join(path, "node_modules", name);
    return existsSync(own) ? own : join("node_modules", name);
  });
  return [path, ...folders.flatMap((folder) => withDependencies(folder, known))];
}

/** The licences of packages: they go where the code goes. */
function licences(packages) {
  return `What is bundled here, and its licences.\n\n${[...new Set(packages)].sort().map(licence).join("\n")}`;
}

function licence(path) {
  const { name, version, license } = manifestOf(path);
  const texts = readdirSync(path).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  return [`${name} ${version}: ${license}\n`, ...texts.map((file) => readFileSync(join(path, file), "utf8"))].join(
    "\n",
  );
}

function manifestOf(path) {
  return JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
}
