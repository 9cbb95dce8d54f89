import { readFileSync } from "node:fs";
import t from "tap";
import { WORKLOAD_ALGORITHMS } from "../../actors/access/tokens/workload-rules.js";
import { createKinds } from "../../actors/catalogue.js";
import { isPublicAddress } from "../../actors/outbound/http/address-guard.js";
import { parseAllowList } from "../../actors/outbound/http/allow-list.js";
import { parseKey } from "../../http/process/secrets-key.js";
import { openDocsScene } from "../support/docs-scene.js";
import { readSections, readTables } from "../support/page-tables.js";

const PAGE = "docs/security.md";
const page = readFileSync(PAGE, "utf8");
const sections = readSections(page);

t.test("the page says how each hidden field of a kind is stored", async (t) => {
  const [rows = []] = readTables(sections.get("Encryption at rest") ?? "");
  const forms = { sealed: "Encrypted", hash: "SHA-256 hash" };
  const known = createKinds({ allowList: parseAllowList(""), signsTokens: false }).flatMap(({ name, hidden }) =>
    hidden.map(({ keep }) => `${name}: ${forms[keep]}`),
  );
  const listed = rows.flatMap(([data = "", form = ""]) =>
    [...data.matchAll(/\(`([a-z-]+)`\)/g)].map(([, name = ""]) => `${name}: ${form}`),
  );
  t.same(listed.sort(), known.sort());
});

t.test("the page has the algorithms of workload tokens", async (t) => {
  const [, listed = ""] = /with ((?:[A-Z]+\d+,? )+or [A-Z]+\d+)/.exec(page.replace(/\s+/g, " ")) ?? [];
  t.same(listed.split(/, | or /), WORKLOAD_ALGORITHMS);
});

t.test("nothing is allowed by default, and an entry without a protocol allows no private address", async (t) => {
  const admits = (list: string, url: string) => parseAllowList(list).admits(new URL(url));
  t.match(admits("", "https://hooks.example"), { admitted: false });
  t.match(admits("10.0.0.1", "https://10.0.0.1"), { admitted: true, admitsPrivate: false });
  t.match(admits("http://10.0.0.1", "http://10.0.0.1"), { admitted: true, admitsPrivate: true });
  for (const address of ["10.0.0.1", "127.0.0.1", "169.254.169.254", "168.63.129.16"])
    t.notOk(isPublicAddress(address));
});

t.test("responses have the headers that the page names", async (t) => {
  const { service } = await openDocsScene(t);
  const { headers } = await service.anonymous.request("GET", "/healthz");
  t.match(headers, {
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": /default-src 'none'/,
  });
});

t.test("a reader makes a key, and sees that the value of a secret does not reach the disk", async (t) => {
  const scene = await openDocsScene(t);
  const { service, reader, values } = scene;
  await scene.open({ title: "A title in the store" });
  Object.assign(values, { "./data": service.folder });
  const outputs = new Map<string, string>();
  await reader.follow(PAGE, { values, after: ({ code }, { out }) => void outputs.set(code.split(" ")[0] ?? "", out) });
  const key = outputs.get("openssl");
  if (key !== undefined) t.ok(parseKey(key.trim()));
  const stored = outputs.get("printf") ?? "";
  t.match(stored, "not on the disk");
  t.match(stored, /^700 \S+\n600 \S+data\.mdb\n600 \S+secrets\.key\n/m);
  t.ok(readFileSync(`${service.folder}/data.mdb`).includes("A title in the store"), "other text is on the disk");
});
