import { build } from "esbuild";

/** Compiles all sources to `dist/`, file by file, without checking types. `npm run types` checks them. */
await build({
  entryPoints: ["storage", "runtime", "actors", "http", "test", "bench"].map((folder) => `${folder}/**/*.ts`),
  outdir: "dist",
  outbase: ".",
  format: "esm",
  platform: "node",
  target: "es2022",
  sourcemap: true,
  logLevel: "warning",
});
