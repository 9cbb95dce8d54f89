import t from "tap";
import { type Method, type Route, route } from "../../../http/wire/route.js";
import { createRouter } from "../../../http/wire/router.js";

function at(method: Method, path: string): Route {
  const summary = `${method} ${path}`;
  return route({ method, path, summary, access: "public", answers: {}, handle: () => ({ status: 200 }) });
}

const find = createRouter([
  at("GET", "/"),
  at("GET", "/a"),
  at("POST", "/a"),
  at("GET", "/a/{id}"),
  at("DELETE", "/a/{id}"),
  at("GET", "/a/import"),
  at("GET", "/a/{id}/b/{other}"),
  at("GET", "/a/import/c"),
]);

function found(method: string, path: string): string {
  const result = find(method, path);
  if ("refused" in result) return result.refused;
  return `${result.route.summary} ${JSON.stringify(result.params)}`;
}

t.test("a path finds its route, fixed segments before parameters", async (t) => {
  t.equal(found("GET", "/"), "GET / {}");
  t.equal(found("GET", "/a"), "GET /a {}");
  t.equal(found("GET", "/a/x"), 'GET /a/{id} {"id":"x"}');
  t.equal(found("GET", "/a/import"), "GET /a/import {}");
  t.equal(found("GET", "/a/import/c"), "GET /a/import/c {}");
  t.equal(found("GET", "/a/import/b/y"), 'GET /a/{id}/b/{other} {"id":"import","other":"y"}');
});

t.test("parameters are decoded, and only once", async (t) => {
  t.equal(found("GET", "/a/x%2Fy%20%E2%82%AC"), 'GET /a/{id} {"id":"x/y €"}');
  t.equal(found("GET", "/a/%2541"), 'GET /a/{id} {"id":"%41"}');
  t.equal(found("GET", "/a/__proto__"), 'GET /a/{id} {"id":"__proto__"}');
});

t.test("HEAD finds what GET finds", async (t) => {
  t.equal(found("HEAD", "/a"), "GET /a {}");
});

t.test("an unknown path is not found, and a known path with another method lists its methods", async (t) => {
  for (const path of ["/b", "/a/", "/a//b/c", "/a/x/b", "/A", "//a", "/a/x/b/y/z"])
    t.match(find("GET", path), { refused: "not-found", detail: /\/docs/ });
  t.equal(found("GET", "a"), "bad-request");
  t.match(find("PUT", "/a"), { refused: "method-not-allowed", allow: "GET, HEAD, POST" });
  const elsewhere = createRouter([{ ...at("POST", "/a/{id}/b"), listedAt: "/b" }]);
  t.match(elsewhere("GET", "/a/1/b"), { detail: "this path supports POST; created items are listed at /b" });
  t.match(find("get", "/a"), { refused: "method-not-allowed" }, "methods are told apart by case");
  t.match(find("HEAD", "/a/x"), { route: { summary: "GET /a/{id}" } });
});

t.test("a parameter that cannot be decoded is a bad request", async (t) => {
  for (const bad of ["%", "%zz", "%c3%28", "%00", "a%00b"]) t.equal(found("GET", `/a/${bad}`), "bad-request", bad);
});

t.test("two routes of one method and path are a mistake of ours", async (t) => {
  t.throws(() => createRouter([at("GET", "/a"), at("GET", "/a")]), /two routes/);
});
