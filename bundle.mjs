import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

/**
 * Bundles the programs of `signalbox` with the packages they load, in pieces that they share: a start reads some thirty
 * files instead of 1,400. Types are not checked here.
 */

/** Same depth as the compiled sources, and flat, so that paths relative to a program resolve in both. */
const folder = "dist/bundle/programs";

/** The command, and programs that run as separate processes or threads. */
const programs = [
  "http/cli/main.ts",
  "http/cli/dev/example-agent.ts",
  "http/runner/tools/bridge.ts",
  "actors/config-pull-requests/edit/edit-worker.ts",
];

/** What finds files of its own package: code for the machine, and web assembly. `lmdb` loads `msgpackr` too. */
const unbundled = [
  "@opentelemetry/*",
  "lmdb",
  "msgpackr",
  "uWebSockets.js",
  "web-tree-sitter",
  "@cdktn/hcl2json",
  "@cdktn/hcl-tools",
];

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

const { metafile, outputFiles } = await build({
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.15",
  entryPoints: programs,
  outdir: folder,
  entryNames: "[name]",
  chunkNames: "[name]-[hash]",
  external: unbundled,
  plugins: [lessOfPackages],
  // Names stay, for the traces of errors; what ends with an error prints its line.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 160,
  // Packages that are no modules require those of Node.
  banner: {
    js: 'import { createRequire as toRequire } from "node:module"; const require = toRequire(import.meta.url);',
  },
  metafile: true,
  write: false,
  logLevel: "warning",
});
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { path, text } of outputFiles) writeFileSync(path, inAscii(text));
writeFileSync(join(folder, "LICENSES.txt"), licences(Object.keys(metafile.inputs)));

/** The same program: one letter beyond makes its text take twice the memory. Texts are escaped already, patterns are not. */
function inAscii(program) {
  return program.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The licences of the packages that files are of: they go where the code goes. */
function licences(files) {
  const packages = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []));
  return `What is bundled here, and its licences.\n\n${[...packages].sort().map(licence).join("\n")}`;
}

function licence(path) {
  const { name, version, license } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
  const texts = readdirSync(path).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  return [`${name} ${version}: ${license}\n`, ...texts.map((file) => readFileSync(join(path, file), "utf8"))].join(
    "\n",
  );
}
