import t from "tap";
import { listIdCursors } from "../../../http/wire/paging.js";
import { workspaceWithTeam } from "../../support/resources.js";
import { toTables } from "../../support/route-table.js";
import { startTestService } from "../../support/service.js";

/** Lists whose `before` is documented to return an empty page for an unknown id. */
const EMPTY_PAGES = [/\/replay-checks$/, /\/searches$/];
/** Lists that continue after a key or a number. */
const NO_IDS = [
  /\/(configuration-)?changes$/,
  /\/events\/\{occurrence\}\/hooks$/,
  /\/steps$/,
  /\/(replay|search)-runs\/\{runId\}$/,
  /\/decisions$/,
];

t.test("every list refuses a before or after that is no id of its kind with 422, and names it", async (t) => {
  const service = await startTestService(t);
  const ada = await service.signIn("ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const { routes } = toTables(service);
  const paged = routes.filter(({ query }) => {
    const names = Object.keys((query as { shape?: object } | undefined)?.shape ?? {});
    return names.includes("before") || names.includes("after");
  });
  const lists = paged.filter(({ query }) => listIdCursors(query).length > 0);
  const others = paged.filter((route) => !lists.includes(route)).map(({ path }) => path);
  t.same(
    others.filter((path) => ![...EMPTY_PAGES, ...NO_IDS].some((known) => known.test(path))),
    [],
    "all others are known not to take ids, or to answer an empty page",
  );
  t.ok(lists.length >= 14, `${lists.length} lists`);
  for (const { path, query } of lists) {
    for (const name of listIdCursors(query)) {
      const at = path.replace("{slug}", "acme").replace("{workspaceId}", workspaceId).replace("{teamId}", teamId);
      const where = at.replaceAll(/\{\w+\}/g, "none");
      for (const wrong of ["zzz", "~", "secret_00000000000000000000000000", "task_1", "", "%20"]) {
        const reply = await ada.request("GET", `${where}?${name}=${wrong}`);
        t.match(reply, { status: 422, body: { errors: [{ path: name, message: /as an earlier page shows it/ }] } });
      }
    }
  }
  const tasks = `/api/teams/${teamId}/tasks`;
  t.match(await ada.request("GET", `${tasks}?before=task_7ZZZZZZZZZZZZZZZZZZZZZZZZZ`), { status: 200 });
  t.match(await ada.request("GET", `${tasks}?before=x&limit=0`), { status: 400 }, "with another mistake beside it");
});
