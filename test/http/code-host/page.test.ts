import t from "tap";
import { noBrowser, openBrowser } from "../../support/browser.js";
import { startCodeHost } from "../../support/code-host.js";
import { adaThere, beginConnecting, install } from "../../support/code-host-scene.js";
import { personAt } from "../../support/people.js";
import { workspaceWithTeam } from "../../support/resources.js";
import { startTestService } from "../../support/service.js";

/** Matches browser console messages about error answers that the page handles. */
const READY_FOR = /status of (401|403|409)/;

t.test(
  "a person who comes back from the code host sees in their browser what came of it",
  { skip: noBrowser },
  async (t) => {
    const codeHost = await startCodeHost(t);
    const service = await startTestService(t, { settings: codeHost.settings });
    const ada = await personAt(service, "ada@example.com");
    await workspaceWithTeam(ada);
    install(codeHost, 7);
    const { context, asked, faults } = await openBrowser(t);
    const [name = "", value = ""] = String(ada.credentials.cookie).split("=");
    await context.addCookies([{ name, value, url: service.baseUrl }]);
    const page = await context.newPage();
    codeHost.browser.person = adaThere;

    await page.goto(await beginConnecting(ada, 7));
    await page.getByText(`The installation of acme-inc on ${codeHost.name} is connected.`).waitFor();
    t.equal(page.url(), `${service.baseUrl}/code-host/callback`, "neither code nor state is left in the address");

    await page.goto(`${service.baseUrl}/code-host/callback?state=nonsense&code=nonsense`);
    await page
      .getByText("This link was already used, has expired, or was not started by you in this session")
      .waitFor();
    const url = new URL(await beginConnecting(ada, 7));
    const denied = new URLSearchParams({ state: url.searchParams.get("state") ?? "", error: "access_denied" });
    await page.goto(`${service.baseUrl}/code-host/callback?${denied}`);
    await page.getByText(`${codeHost.name} cannot confirm that you administer this installation.`).waitFor();
    await page.goto(`${service.baseUrl}/code-host/callback?installation_id=7&setup_action=install`);
    await page
      .getByText("Nothing was begun here: connect the installation from a workspace. Its number is 7.")
      .waitFor();

    const elsewhere = asked.filter((each) => !each.startsWith(`${service.baseUrl}/`));
    t.same(
      [...new Set(elsewhere.map((each) => new URL(each).host))],
      [codeHost.name],
      "only the sign-in itself goes elsewhere",
    );
    t.same(
      faults.filter((fault) => !READY_FOR.test(fault)),
      [],
    );
  },
);
