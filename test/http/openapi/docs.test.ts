import t from "tap";
import { noBrowser, openBrowser } from "../../support/browser.js";
import { startTestService } from "../../support/service.js";

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
    await page.goto(`${baseUrl}/docs`, { waitUntil: "networkidle" });
    await page.getByText("Create a line").first().waitFor();
    const shown = await page.locator("openapi-explorer").evaluate((element) => element.shadowRoot?.textContent ?? "");
    for (const [path, item] of Object.entries(paths)) {
      for (const { summary } of Object.values(item)) t.ok(shown.includes(summary), `${path}: ${summary}`);
    }
    await page.goto(`${baseUrl}/docs#?route=post-/api/resources/teams/-teamId-/lines`, { waitUntil: "networkidle" });
    await page.reload({ waitUntil: "networkidle" });
    await page.getByText("Idempotency-Key").first().waitFor({ timeout: 10_000 });
    t.same(
      asked.filter((url) => !url.startsWith(`${baseUrl}/`) && !url.startsWith("data:")),
      [],
      "no other host was asked",
    );
    t.same(faults, []);
  },
);
