import t from "tap";
import { z } from "zod";
import { tablesOf } from "../support/route-table.js";
import { openWorkplace } from "../support/workplace.js";

const NAMES = ["before", "after", "station"];
/** Longer than any key of the store, and what no key may hold. */
const NO_CURSORS = ["x".repeat(5_000), `a/b/${"x".repeat(5_000)}`, "%01", "a%00b", "%C3%A9".repeat(900)];

t.test("a page that begins nowhere is never an error of the service", async (t) => {
  const { service, ada, workspaceId, teamId } = await openWorkplace(t);
  const known: Readonly<Record<string, string>> = { slug: "acme", workspaceId, teamId };
  const paged = tablesOf(service).routes.flatMap(({ method, path, query }) => {
    const names = method === "GET" && query instanceof z.ZodObject ? Object.keys(query.shape) : [];
    const where = path.replace(/\{(\w+)\}/g, (_, name: string) => known[name] ?? "none");
    return names.filter((name) => NAMES.includes(name)).map((name) => `${where}?${name}=`);
  });
  t.ok(paged.length >= 8, `${paged.length} lists have pages`);
  for (const page of paged) {
    for (const text of NO_CURSORS) {
      const { status } = await ada.request("GET", `${page}${text}`);
      t.ok(status < 500, `${page}${text.slice(0, 10)} answered ${status}`);
    }
  }
});
