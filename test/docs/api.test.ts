import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { API_VERSION } from "../../http/wire/headers.js";
import { problems } from "../../http/wire/problem.js";
import { openDocsScene } from "../support/docs-scene.js";
import { type Block, readBlocks } from "../support/page-blocks.js";
import type { BlockEnd } from "../support/reader.js";

const PAGE = "docs/api.md";
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The output that the page shows after a block. */
function shownAfter(line: number): string {
  const blocks = readBlocks(readFileSync(PAGE, "utf8"), PAGE);
  const next = blocks[blocks.findIndex((block) => block.line === line) + 1];
  return next?.language === "text" ? next.code : "";
}

/** Checks the result of each block. Each key is a text that only this block contains. */
const promises: Readonly<Record<string, (t: Test, out: string, line: number) => void>> = {
  "token create": (t, out) => t.match(JSON.parse(out), { items: [{ slug: "acme" }] }),
  "as_person()": (t, out) => t.match(JSON.parse(out), { email: "you@example.com" }),
  task_unknown: (t, out, line) => t.match(JSON.parse(out), JSON.parse(shownAfter(line))),
  create_team: (t, out) => {
    const [first, second, rest] = out.split(/(?<=\})(?=\{)|(?<=\})(?=[a-z]+-)/i);
    t.equal(first, second, "it is created once");
    t.match(rest, /^idempotent-replayed: true/i);
  },
  "rename()": (t, out) => {
    const [renamed, refused] = out.split(/(?<=\})(?=\{"type")/);
    t.match(JSON.parse(renamed ?? ""), { name: "Documentation", version: 2 });
    t.match(JSON.parse(refused ?? ""), { type: "urn:service:problem:moved-on", status: 409, currentVersion: 2 });
  },
  "limit=2": (t, out) => {
    const { items, next } = JSON.parse(out) as { readonly items: readonly { readonly title: string }[]; next: unknown };
    t.same([items.map(({ title }) => title), next], [["One"], null]);
  },
  "work.mjs": (t, out, line) => t.equal(out.trimEnd(), shownAfter(line)),
  "watch.mjs": (t, out, line) => t.equal(out.trimEnd(), shownAfter(line)),
};

t.test("every command of the page works, and prints what the page says", async (t) => {
  const { reader, values, service, teamId } = await openDocsScene(t);
  mkdirSync(join(reader.repository, "node_modules"));
  symlinkSync(ROOT, join(reader.repository, "node_modules/signalbox"));
  values["<team id>"] = teamId;
  const kept = new Set<string>();
  const asLink = async ({ code }: Block) => {
    if (code.includes("<token of the link>")) values["<token of the link>"] = await service.linkFor("you@example.com");
  };
  const check = ({ code, line }: Block, { out }: BlockEnd) => {
    for (const [text, promise] of Object.entries(promises)) {
      if (kept.has(text) || !code.includes(text)) continue;
      kept.add(text);
      return promise(t, out, line);
    }
  };
  await reader.follow(PAGE, { values, before: asLink, after: check });
  t.same([...kept].sort(), Object.keys(promises).sort(), "each promise was checked");
});

t.test("the page has the API version, and the status of every problem that a client may see", async (t) => {
  const page = readFileSync(PAGE, "utf8");
  t.match(page, `Service-Api-Version: ${API_VERSION}`);
  for (const [slug, [status]] of Object.entries(problems)) {
    if (status === 405 || status === 426 || status === 502) continue;
    t.match(page, new RegExp(`\\b${status}\\b`), slug);
  }
});
