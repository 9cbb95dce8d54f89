import { brotliDecompressSync, gunzipSync } from "node:zlib";
import t from "tap";
import { serveCached } from "../../../http/wire/cached-answer.js";

const text = "The content of a page. ".repeat(100);

/** Returns a function that sends a request with the given headers to a route whose content is `text`. */
function page() {
  const handle = serveCached(async () => ({ type: "text/plain", content: text }));
  return async (headers: Readonly<Record<string, string>> = {}) => {
    const { status, text: sent, headers: got = {} } = await handle({ header: (name) => headers[name] });
    return { status, bytes: Buffer.from(sent?.content ?? ""), headers: got };
  };
}

t.test("the content comes in the coding that the client prefers, and plain to one that accepts none", async (t) => {
  const get = page();
  const codingOf = async (accepted: string) => {
    const { headers } = await get({ "accept-encoding": accepted });
    return headers["content-encoding"] ?? "identity";
  };
  t.same(
    await Promise.all(
      ["gzip", "br;q=1, gzip;q=0.5", "br;q=0, *", "zstd", "identity;q=0", "GZIP, br;q=0", "gzip;q=0"].map(codingOf),
    ),
    ["gzip", "br", "gzip", "identity", "identity", "gzip", "identity"],
  );
  t.equal(gunzipSync((await get({ "accept-encoding": "gzip" })).bytes).toString(), text);
  t.equal(brotliDecompressSync((await get({ "accept-encoding": "br" })).bytes).toString(), text);
  const plain = await get();
  t.equal(plain.bytes.toString(), text);
  t.equal(plain.headers.vary, "accept-encoding", "caches keep one for each coding");
});

t.test("a client with a current copy gets 304, whether a proxy weakened the tag or it names several", async (t) => {
  const get = page();
  const { etag = "" } = (await get()).headers;
  const statusOf = async (tag: string) => (await get({ "if-none-match": tag })).status;
  t.same(await Promise.all([etag, `W/${etag}`, `"a", ${etag}`, "*", '"a"'].map(statusOf)), [304, 304, 304, 304, 200]);
  const coded = (await get({ "accept-encoding": "br" })).headers.etag ?? "";
  t.equal(await statusOf(coded), 200, "the tag of another coding is not current");
  t.equal((await get({ "accept-encoding": "br", "if-none-match": coded })).status, 304);
});

t.test("content that could not be read is read again at the next request", async (t) => {
  let tries = 0;
  const handle = serveCached(async () => {
    tries += 1;
    if (tries === 1) throw new Error("no file");
    return { body: { tries }, content: JSON.stringify({ tries }) };
  });
  const request = { header: () => undefined };
  await t.rejects(handle(request), /no file/);
  t.match(await handle(request), { status: 200, body: { tries: 2 } });
  await handle(request);
  t.equal(tries, 2);
});
