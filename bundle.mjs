import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

/**
 * Bundles the code of the package into `dist/bundle`, without checking types.
 *
 * - `programs/`: the programs of `signalbox` with the packages that they load, split into shared chunks. A program
 *   reads about thirty files at its start instead of 1,400.
 * - `runner.mjs`: the runner with all its packages in one file, which the service offers for download.
 * - `pages/`: scripts of other packages that the service's pages load.
 */

/**
 * The folder of the bundled programs. It has the same depth as the folders of the compiled sources, so a path relative
 * to a program is valid in both. For the same reason, all shared chunks are in this folder too.
 */
const folder = "dist/bundle/programs";
const pages = "dist/bundle/pages";

/** The command, and programs that run as separate processes or threads. */
const programs = [
  "http/cli/main.ts",
  "http/cli/dev/example-agent.ts",
  "http/runner/tools/bridge.ts",
  "actors/config-pull-requests/edit/edit-worker.ts",
];

/**
 * Packages that load their own files at run time: native code and WebAssembly. They cannot be bundled. `lmdb` also
 * loads `msgpackr`.
 */
const unbundled = [
  // Optional packages for traces. `@opentelemetry/api` is not in this list: `prom-client` needs this package, so it is
  // bundled.
  ...["core", "exporter-trace-otlp-http", "resources", "sdk-trace-node"].map((name) => `@opentelemetry/${name}`),
  ...["lmdb", "msgpackr", "uWebSockets.js"],
  ...["web-tree-sitter", "@tree-sitter-grammars/tree-sitter-hcl", "@cdktn/hcl2json", "@cdktn/hcl-tools"],
];

/** Scripts that the service's pages load, by file name in `pages/`. */
const scripts = { "explorer.js": { from: "openapi-explorer", file: "dist/browser/openapi-explorer.min.js" } };

/**
 * Replacements for files of packages that export more than the product uses. If code imports an export that is missing
 * here, the build fails.
 */
const indexes = {
  // Translated messages make up most of zod. Export only English, the language in use.
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
  // Do not minify names, because stack traces show them. Limit the line length, because Node prints the source line of
  // an uncaught error.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 160,
  define: { RELEASE: JSON.stringify(manifestOf(".").version) },
  metafile: true,
  write: false,
  logLevel: "warning",
};
// CommonJS packages load Node's modules with `require`, which an ES module does not have. Define it.
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
// `pack.mjs` reads this file, because the released package depends only on the packages in it.
writeFileSync("dist/loaded-packages.json", JSON.stringify(unbundled));

/**
 * Returns the same program in ASCII. A single other character can double the memory that the program's text needs.
 * esbuild has already escaped strings, but not regular expressions.
 */
function inAscii(program) {
  return program.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Returns a text as a comment at the end of a program. */
function asComment(text) {
  return `\n/*\n${inAscii(text).replaceAll("*/", "* /")}*/\n`;
}

/** Returns the folders of the packages that a bundle contains. */
function packagesOf({ metafile }) {
  return Object.keys(metafile.inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
}

/** Returns the folders of a package and of all its dependencies. */
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

/** Returns the licences of packages as one text, which is distributed with their code. */
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
