import { brotliCompressSync } from "node:zlib";
import { buildSync } from "esbuild";
import t from "tap";

t.test("the client takes at most 3 KB of a page, and brings no other code", (t) => {
  const { outputFiles, metafile } = buildSync({
    entryPoints: ["http/client/entry.ts"],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false,
    metafile: true,
  });
  const bytes = brotliCompressSync(outputFiles[0]?.contents ?? new Uint8Array()).length;
  t.ok(bytes > 0 && bytes <= 3_072, `${bytes} bytes`);
  t.same(
    Object.keys(metafile.inputs).filter((path) => !path.startsWith("http/client/")),
    [],
  );
  t.end();
});
