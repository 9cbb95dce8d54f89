import t from "tap";
import { noBrowser, openBrowser } from "../../support/browser.js";
import { loggedInvite, personAt } from "../../support/people.js";
import { listItems, workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

const MEMBERS = "/api/workspaces/acme/members";
const INVITES = "/api/workspaces/acme/invites";
/** Matches browser console messages about error answers that the page handles. */
const READY_FOR = /status of (401|404|409)/;

t.test(
  "a person signs in over the page of a link, and opening it alone uses nothing up",
  { skip: noBrowser },
  async (t) => {
    const service = await startTestService(t);
    const { context, asked, faults } = await openBrowser(t);
    const page = await context.newPage();
    const link = `${service.baseUrl}/sign-in/${await service.linkFor("ada@example.com")}`;
    await page.goto(link);
    await page.reload({ waitUntil: "networkidle" });
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("You are signed in.").waitFor();
    t.equal(new URL(page.url()).pathname, "/sign-in/done", "the token is not left in the address");
    const me = await context.request.get(`${service.baseUrl}/api/sessions/me`);
    t.match(await me.json(), { email: "ada@example.com" });

    await page.goto(link);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("This link is used up or too old.").waitFor();
    t.same(
      asked.filter((url) => !url.startsWith(`${service.baseUrl}/`)),
      [],
    );
    t.same(
      faults.filter((fault) => !READY_FOR.test(fault)),
      [],
    );
  },
);

t.test("from the link in a mail a person signs in, returns, and accepts", { skip: noBrowser }, async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  const name = "<img src=x onerror=alert(1)> & Söhne";
  await ada.request("PUT", `/api/resources/workspaces/${workspaceId}`, { slug: "acme", name }, { "if-match": '"1"' });
  await ada.request("POST", INVITES, { emails: ["bob@example.com"], role: "admin", teams: [teamId] });
  const { context, asked, faults } = await openBrowser(t);
  const page = await context.newPage();
  await page.goto(`${service.baseUrl}/invites/${loggedInvite(service, "bob@example.com")}`);
  await page.getByText(`ada invites you to the workspace ${name} and the teams Core as an admin.`).waitFor();
  await page.getByRole("button", { name: "Send me a sign-in link" }).click();
  await page.getByText("A sign-in link is on its way to bob@example.com.").waitFor();
  const [, token] = await service.logged(/sign-in link for bob@example\.com: \S+\/sign-in\/([\w-]{43})/);

  const second = await context.newPage();
  await second.goto(`${service.baseUrl}/sign-in/${token}`);
  await second.getByRole("button", { name: "Sign in" }).click();
  await second.getByText("You are signed in.").waitFor();
  await second.close();
  // A headless page is never hidden. So dispatch the event that a browser sends when a person returns to the page.
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  t.equal(listItems(await ada.request("GET", MEMBERS)).length, 1, "nothing is accepted by looking");
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByText(`You are in the workspace ${name}.`).waitFor();
  t.match(listItems(await ada.request("GET", MEMBERS))[1], { email: "bob@example.com", role: "admin" });

  await page.reload();
  await page.getByText("This invite was accepted already.").waitFor();
  t.equal(await page.getByRole("button").count(), 0, "and there is nothing to press");
  t.same(
    asked.filter((url) => !url.startsWith(`${service.baseUrl}/`)),
    [],
    "no other host was asked",
  );
  t.same(
    faults.filter((fault) => !READY_FOR.test(fault)),
    [],
  );
});

t.test("someone else is told whose invite it is, and a link that is over says so", { skip: noBrowser }, async (t) => {
  const service = await startTestService(t);
  const ada = await personAt(service, "ada@example.com");
  await workspaceWithTeam(ada);
  const [outcome] = listItems(await ada.request("POST", INVITES, { emails: ["bob@example.com"] }));
  const { context, faults } = await openBrowser(t);
  const [cookieName = "", value = ""] = (ada.credentials.cookie ?? "").split("=");
  await context.addCookies([{ name: cookieName, value, url: service.baseUrl }]);
  const page = await context.newPage();
  await page.goto(`${service.baseUrl}/invites/${loggedInvite(service, "bob@example.com")}`);
  await page.getByText("It is for bob@example.com; you are signed in as ada@example.com.").waitFor();
  const other = await personAt(service, "ada@example.com");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("Sign in as bob@example.com to accept.").waitFor();
  await other.request("DELETE", `${INVITES}/${outcome?.inviteId}`);
  await page.reload();
  await page.getByText("This link leads nowhere").waitFor();
  await service.stop();
  t.same(
    faults.filter((fault) => !READY_FOR.test(fault)),
    [],
  );
});
