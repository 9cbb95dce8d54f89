import t from "tap";
import { listDescribed, listPoor } from "../../support/descriptions.js";
import { startTestService } from "../../support/service.js";

t.test("operations, tags, parameters and properties have descriptions that say more than their names", async (t) => {
  const service = await startTestService(t);
  const { body } = await service.anonymous.request("GET", "/api/openapi.json");
  const all = listDescribed(body ?? {});
  for (const kind of ["operation", "tag", "parameter", "property"]) {
    t.ok(all.filter((each) => each.kind === kind).length > 20, `there are descriptions of each ${kind}`);
  }
  t.same(listPoor(all), []);
});

t.test("a description that is missing, short, a repeated name or shared by many names is a fault", async (t) => {
  const poor = (name: string, description?: string) =>
    listPoor([{ kind: "property", place: `.${name}`, name, description }]);
  t.same(poor("endedAt"), [".endedAt: has no description"]);
  t.same(poor("endedAt", "When it ended."), [".endedAt: has fewer than 4 words: When it ended."]);
  t.same(poor("taskTitle", "The title of the task."), [".taskTitle: only repeats its name: The title of the task."]);
  t.same(poor("endedAt", "The time at which the run ended."), []);
  const shared = ["a", "b", "c", "d", "e", "f"].map((name) => ({
    kind: "property" as const,
    place: `.${name}`,
    name,
    description: "A time in ISO 8601 format.",
  }));
  t.same(listPoor(shared.slice(1)), []);
  t.equal(listPoor(shared).length, 6);
});
