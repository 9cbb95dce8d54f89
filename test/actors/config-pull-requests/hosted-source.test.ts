import { setImmediate } from "node:timers/promises";
import t from "tap";
import { packList, unpackList } from "../../../actors/config-pull-requests/edit/packed-list.js";
import { hostedSource, TooManyReads } from "../../../actors/config-pull-requests/hosted-source.js";
import { type CodeHostSources, createSources } from "../../../actors/outbound/code-host/code-host-sources.js";

const sha = "a".repeat(40);
const there = { installationId: 7, repository: "acme-inc/infra" };
const at = { head: { commit: sha, tree: sha, parents: [], branch: "main" }, path: "lines/dev.tf" };

/**
 * Creates a code host that answers each request with the JSON value `answer(url)`. If the value is undefined, the body
 * is not JSON.
 */
function answering(answer: (url: string) => unknown): CodeHostSources {
  return createSources({
    name: "code.example",
    apiUrl: "https://api.code.example",
    appToken: async () => "app",
    paced: async () => undefined,
    tokens: { read: async () => "token", forget: () => undefined },
    ask: async ({ url }) => ({ status: 200, json: answer(url), etag: null, next: null }),
  });
}

t.test("what an edit reads is kept in memory, so it reads so much of a repository and no more", async (t) => {
  const content = Buffer.alloc(1024 * 1024, "x").toString("base64");
  const asked: string[] = [];
  const sources = answering((url) => {
    asked.push(url);
    return { type: "file", encoding: "base64", size: 1024 * 1024, content };
  });
  const source = hostedSource({ sources }, there, at);
  const findLength = async (path: string) => {
    const text = await source.read(path);
    return typeof text === "string" ? text.length : null;
  };
  for (let n = 0; n <= 16; n += 1) t.equal(await findLength(`${n}.tf`), 1024 * 1024);
  await t.rejects(source.read("17.tf"), new TooManyReads("files of more than 16 MiB to be read"));
  t.equal(await findLength("3.tf"), 1024 * 1024, "what is known stays so");
  t.equal(asked.length, 17);
});

t.test("a folder that is not listed whole may hold anything: nothing is said of it", async (t) => {
  const cut = (url: string) => ({
    truncated: url.includes("recursive") || url.endsWith("b".repeat(40)),
    tree: [{ path: url.endsWith("b".repeat(40)) ? "dev.tf" : "lines", mode: "040000", sha: "b".repeat(40) }],
  });
  const source = hostedSource({ sources: answering(cut) }, there, at);
  await t.rejects(source.list(), new TooManyReads("more entries in lines/ than are listed"));
});

t.test("an answer that is no list is none of a repository without files", async (t) => {
  const source = hostedSource({ sources: answering(() => undefined) }, there, at);
  await t.rejects(source.list(), { name: "CodeHostRefused", status: null });
});

t.test("a long list is read part by part, and other work goes on meanwhile", async (t) => {
  const tree = Array.from({ length: 20_000 }, (_, n) => ({ path: `lines/${n}.tf`, mode: "100644", sha }));
  const source = hostedSource({ sources: answering(() => ({ tree, truncated: false })) }, there, at);
  let turns = 0;
  let isRead = false;
  const other = (async () => {
    for (; !isRead; turns += 1) await setImmediate();
  })();
  const listed = await source.list();
  isRead = true;
  await other;
  t.ok(turns >= 9, `${turns}`);
  t.equal(listed.entries.length, 20_000);
  const entries = [...listed.entries.slice(0, 2), { path: "a b\n\u00e9", kind: "submodule" as const }];
  t.same(unpackList(packList({ entries, isWhole: false })), { entries, isWhole: false });
});

t.test("a file is read as UTF-8, or said to be something else", async (t) => {
  const text = 'key = "\u00e9"\n';
  const wide = Buffer.from(text, "utf16le");
  const swapped = Buffer.from(wide).swap16();
  const cases: readonly (readonly [Buffer, unknown])[] = [
    [Buffer.from(`\ufeff${text}`), `\ufeff${text}`],
    [Buffer.from(""), ""],
    [Buffer.concat([Buffer.from("fffe", "hex"), wide]), { unread: "utf-16" }],
    [Buffer.concat([Buffer.from("feff", "hex"), swapped]), { unread: "utf-16" }],
    [wide, { unread: "utf-16" }],
    [swapped, { unread: "utf-16" }],
    [Buffer.from("7f454c46020101000000", "hex"), { unread: "binary" }],
    [Buffer.from(`${text}\0`), { unread: "binary" }],
    [Buffer.from(text, "latin1"), { unread: "encoding" }],
  ];
  for (const [bytes, read] of cases) {
    const content = { type: "file", encoding: "base64", size: bytes.length, content: bytes.toString("base64") };
    const source = hostedSource({ sources: answering(() => content) }, there, at);
    t.same(await source.read("a.tf"), read);
  }
});

t.test(
  "a file that is listed and comes without its content is too large, and one that is not listed not there",
  async (t) => {
    const tree = [{ path: "a.tf", mode: "100644", sha }];
    const answer = (url: string) =>
      url.includes("/git/trees/") ? { tree } : { type: "file", encoding: "none", size: 2 * 1024 * 1024, content: "" };
    const source = hostedSource({ sources: answering(answer) }, there, at);
    t.same(await source.read("a.tf"), { unread: "large" });
    t.equal(await source.read("b.tf"), null);
  },
);

t.test("symlinks are listed with what they hold", async (t) => {
  const tree = [
    { path: "link", mode: "120000", sha },
    { path: "gone", mode: "120000", sha: "b".repeat(40) },
    { path: "lines", mode: "040000", sha },
  ];
  const answer = (url: string) => {
    if (url.includes("/git/trees/")) return { tree };
    const content = Buffer.from("lines").toString("base64");
    return url.endsWith(`/git/blobs/${sha}`) ? { encoding: "base64", content } : { encoding: "none", content: "" };
  };
  const source = hostedSource({ sources: answering(answer) }, there, at);
  const listed = await source.list();
  t.same(listed.entries, [
    { path: "link", kind: "symlink", leadsTo: "lines" },
    { path: "gone", kind: "symlink" },
    { path: "lines", kind: "folder" },
  ]);
  t.same(unpackList(packList(listed)), listed);
});
