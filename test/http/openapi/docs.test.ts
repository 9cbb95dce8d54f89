import { runInNewContext } from "node:vm";
import t from "tap";
import { noBrowser, openBrowser } from "../../support/browser.js";
import { startTestService } from "../../support/service.js";
import { until } from "../../support/until.js";

t.test("the page and its script come from here, with a policy that lets nothing else in", async (t) => {
  const { anonymous } = await startTestService(t);
  const page = await anonymous.request("GET", "/docs");
  t.equal(page.status, 200);
  t.match(page.headers["content-type"], /^text\/html/);
  const policy = page.headers["content-security-policy"] ?? "";
  t.match(policy, /default-src 'none'/);
  t.match(policy, /script-src 'self'(;|$)/, "no inline script, nothing evaluated");
  t.notMatch(policy, /https?:/, "no other host");
  const script = await anonymous.request("GET", "/docs/explorer.js");
  t.equal(script.status, 200);
  t.ok(script.text.length > 100_000);
  const kept = await anonymous.request("GET", "/docs/explorer.js", undefined, {
    "if-none-match": script.headers.etag ?? "",
  });
  t.same([kept.status, kept.text], [304, ""]);
});

t.test("the page, its scripts and the document are compressed for clients that accept it", async (t) => {
  const { anonymous } = await startTestService(t);
  for (const path of ["/docs", "/docs/explorer.js", "/docs/page.js", "/api/openapi.json"]) {
    const get = async (headers: Record<string, string>) =>
      (await anonymous.request("GET", path, undefined, headers)).headers;
    for (const coding of ["gzip", "br"]) {
      const coded = await get({ "accept-encoding": coding });
      t.equal(coded["content-encoding"], coding, `${path}: ${coding}`);
    }
    const plain = await get({});
    t.equal(plain["content-encoding"], undefined, `${path}: not compressed`);
    t.equal(plain.vary, "accept-encoding", path);
  }
});

t.test("a page that is not modified keeps its policy", async (t) => {
  const { anonymous } = await startTestService(t);
  const { headers } = await anonymous.request("GET", "/docs");
  const again = await anonymous.request("GET", "/docs", undefined, { "if-none-match": headers.etag ?? "" });
  t.equal(again.status, 304);
  t.equal(again.headers["content-security-policy"], headers["content-security-policy"]);
});

interface Spec {
  readonly tags: readonly { readonly name: string; readonly parent?: string }[];
  readonly "x-tagGroups": readonly { readonly name: string; readonly tags: readonly string[] }[];
  readonly components: {
    readonly parameters: Readonly<Record<string, { readonly name: string; readonly required?: boolean }>>;
  };
}

t.test("each tag is in one group, and the page has a heading for each group", async (t) => {
  const { anonymous } = await startTestService(t);
  const { tags, "x-tagGroups": groups } = (await anonymous.request("GET", "/api/openapi.json")).body as unknown as Spec;
  t.same(groups.flatMap((group) => group.tags).sort(), tags.map(({ name }) => name).sort());
  const headings = [...(await anonymous.request("GET", "/docs")).text.matchAll(/<h2 slot="nav-tag--(.+)">(.+)<\/h2>/g)];
  t.same(
    headings.map(([, slot, text]) => [slot, text]),
    groups.map(({ name }) => [name, name]),
  );
});

/** A request that the explorer is about to send. The explorer first gives the request to the page's script. */
interface Shown {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
}

t.test("the page sends a new key with each request that takes one, unless the reader enters a key", async (t) => {
  const { anonymous, baseUrl } = await startTestService(t);
  const { text: script } = await anonymous.request("GET", "/docs/page.js");
  const loaded: Spec[] = [];
  let send = (_event: { readonly detail: { readonly request: Shown } }): void => {
    t.fail("the page does not listen");
  };
  const explorer = {
    addEventListener: (name: string, listener: typeof send) => {
      if (name === "request") send = listener;
    },
    loadSpec: async (spec: Spec) => void loaded.push(spec),
  };
  await runInNewContext(`(async () => {${script}})()`, {
    document: { querySelector: () => explorer },
    customElements: { whenDefined: async () => {} },
    fetch: (path: string) => fetch(baseUrl + path),
    URL,
    crypto,
  });
  const keyOf = (method: string, path: string, given: Record<string, string> = {}) => {
    const request = { url: baseUrl + path, method, headers: new Headers(given) };
    send({ detail: { request } });
    return request.headers.get("idempotency-key");
  };
  const create = () => keyOf("POST", "/api/resources/teams/team_1/lines");
  const keys = [create(), create(), keyOf("POST", "/api/teams/team_1/tasks")];
  for (const key of keys) t.match(key, /^[0-9a-f]{32}$/);
  t.equal(new Set(keys).size, 3);
  t.equal(keyOf("POST", "/api/resources/teams/team_1/lines", { "Idempotency-Key": "mine" }), "mine");
  t.equal(keyOf("GET", "/api/resources/workspaces"), null);
  t.equal(keyOf("POST", "/api/sign-in"), null);

  const [spec] = loaded;
  const parameters = Object.values(spec?.components.parameters ?? {}).filter(({ name }) => name === "Idempotency-Key");
  t.same(
    parameters.map(({ required }) => required),
    [false, false],
    "an empty field does not stop a request",
  );
  const groups = spec?.["x-tagGroups"].flatMap(({ name, tags }) => [
    [name, undefined],
    ...tags.map((tag) => [tag, name]),
  ]);
  t.same(
    spec?.tags.map(({ name, parent }) => [name, parent]),
    groups,
  );
});

t.test("who opens the address of the service comes to the page", async (t) => {
  const { anonymous } = await startTestService(t);
  const { status, headers } = await anonymous.request("GET", "/");
  t.match({ status, headers }, { status: 302, headers: { location: "/docs" } });
});

t.test(
  "a browser shows every operation, asks no other host, and finds nothing that the policy forbids",
  { skip: noBrowser },
  async (t) => {
    const { baseUrl, anonymous } = await startTestService(t);
    const { paths } = (await anonymous.request("GET", "/api/openapi.json")).body as unknown as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly summary: string }>>>>;
    };
    const { context, asked, faults } = await openBrowser(t);
    const page = await context.newPage();
    await page.goto(`${baseUrl}/docs`);
    await page.getByText("Create a line").first().waitFor();
    for (const group of ["Configure", "Work", "Measure", "Connect", "Operate", "Access"]) {
      t.ok(await page.getByRole("heading", { name: group, exact: true }).isVisible(), group);
    }
    const shown = await page.locator("openapi-explorer").evaluate((element) => element.shadowRoot?.textContent ?? "");
    for (const [path, item] of Object.entries(paths)) {
      for (const { summary } of Object.values(item)) t.ok(shown.includes(summary), `${path}: ${summary}`);
    }
    await page.goto(`${baseUrl}/docs#?route=post-/api/resources/teams/-teamId-/lines`);
    await page.reload({ waitUntil: "networkidle" });
    await page.getByText("Idempotency-Key").first().waitFor({ timeout: 10_000 });
    const keys: (string | undefined)[] = [];
    await context.route("**/api/resources/teams/*/lines", async (route) => {
      keys.push(route.request().headers()["idempotency-key"]);
      await route.fulfill({ status: 201, json: {} });
    });
    await page.locator("#request-param-teamId").fill("team_1");
    for (const count of [1, 2]) {
      await page.locator(".btn-execute").click();
      await until("the request was sent", () => keys.length === count);
      await page.getByText("201").first().waitFor();
    }
    t.equal(new Set(keys).size, 2, "each request has a new key");
    for (const key of keys) t.match(key, /^[0-9a-f]{32}$/);
    t.same(
      asked.filter((url) => !url.startsWith(`${baseUrl}/`) && !url.startsWith("data:")),
      [],
      "no other host was asked",
    );
    t.same(faults, []);
  },
);
