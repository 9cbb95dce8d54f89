import t from "tap";
import { noBrowser, openBrowser } from "../../support/browser.js";
import { openScene, setOut } from "../../support/connection-scene.js";

/** Matches browser console messages about error answers that the page handles. */
const READY_FOR = /status of (400|401|409)/;

t.test("a person connects their account in their browser, and sees the result", { skip: noBrowser }, async (t) => {
  const scene = await openScene(t, { settings: {} });
  const { service, host, mate, at } = scene;
  const { context, asked, faults } = await openBrowser(t);
  const [name = "", value = ""] = String(mate.credentials.cookie).split("=");
  const page = await context.newPage();
  const shows = (text: string) => page.getByText(text).waitFor();
  const callback = `${service.baseUrl}/api/oauth/callback`;
  await page.goto(`${callback}?state=nonsense&code=nonsense`);
  await shows("You are not signed in here any more.");

  await context.addCookies([{ name, value, url: service.baseUrl }]);
  const account = "<b>mate</b>@host";
  host.signInAs(account);
  await page.goto(await setOut(scene, mate, "me"));
  await shows(`The account ${account} is connected.`);
  t.equal(page.url(), callback, "neither code nor state is left in the address");
  t.match((await mate.request("GET", `${at}/me`)).body, { own: { state: "connected", account } });

  await page.goto(`${callback}?state=nonsense&code=nonsense`);
  await shows("This link was already used, has expired, or was not started by you in this session");
  const state = new URL(await setOut(scene, mate, "me")).searchParams.get("state");
  await page.goto(`${callback}?${new URLSearchParams({ state: state ?? "", error: "access_denied", iss: host.url })}`);
  await shows("The host did not link the account: access was denied.");
  t.same(
    asked.filter((url) => ![service.baseUrl, host.url].includes(new URL(url).origin)),
    [],
  );
  t.same(
    faults.filter((fault) => !READY_FOR.test(fault)),
    [],
  );
});
