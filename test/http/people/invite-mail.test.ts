import t from "tap";
import { startMailServer } from "../../support/mail-server.js";
import { ManualClock } from "../../support/manual-clock.js";
import { personAt } from "../../support/people.js";
import { listItems, workspaceWithTeam } from "../../support/resources.js";
import { type Client, type Reply, startTestService, type TestService } from "../../support/service.js";
import { until } from "../../support/until.js";

const INVITES = "/api/workspaces/acme/invites";

/** Signs the owner in through the log, before the mail server is configured. */
async function signedIn(service: TestService): Promise<Client> {
  return personAt(service, "ada@example.com");
}

const outcomes = (reply: Reply) => listItems(reply).map(({ email, outcome }) => `${email} ${outcome}`);

/**
 * Opens a service that sends mail to `smtpUrl`. The service uses the folder of an earlier service, in which Ada opened
 * a workspace.
 */
async function officeWithMail(
  t: Parameters<typeof startTestService>[0],
  options: { readonly smtpUrl: string; readonly name?: string; readonly team?: string; readonly clock?: ManualClock },
) {
  const { smtpUrl, name = "Acme", team = "Core", clock } = options;
  const first = await startTestService(t, clock === undefined ? {} : { clock });
  const ada = await signedIn(first);
  const { workspaceId, teamId } = await workspaceWithTeam(ada);
  await ada.request("PUT", `/api/resources/workspaces/${workspaceId}`, { slug: "acme", name }, { "if-match": '"1"' });
  await ada.request("PUT", `/api/resources/teams/${teamId}`, { key: "core", name: team }, { "if-match": '"1"' });
  await first.stop();
  const service = await startTestService(t, {
    folder: first.folder,
    settings: { SMTP_URL: smtpUrl },
    ...(clock === undefined ? {} : { clock }),
  });
  const request: Client["request"] = (method, path, body) =>
    service.anonymous.request(method, path, body, { ...ada.credentials });
  return { service, teamId, credentials: ada.credentials, request };
}

t.test("the mail names inviter, workspace and teams, and its link alone admits", async (t) => {
  const mail = await startMailServer(t);
  const { service, teamId, request } = await officeWithMail(t, { smtpUrl: mail.url, team: "Billing & Café" });
  const invited = await request("POST", INVITES, { emails: ["bob@example.com"], teams: [teamId] });
  t.same(outcomes(invited), ["bob@example.com invited"]);
  const [received] = mail.received;
  t.same(received?.to, ["bob@example.com"]);
  t.equal(received?.mail.subject, "ada invites you to Acme on Signalbox");
  const text = received?.mail.text ?? "";
  t.match(text, /ada \(ada@example\.com\) invites you to the workspace Acme as a member\./);
  t.match(text, /^- Billing & Café$/m);
  const token = new RegExp(`^${service.baseUrl}/invites/([\\w-]{43})$`, "m").exec(text)?.[1] ?? "";
  t.match((await service.anonymous.request("GET", `/api/invites/${token}`)).body, { email: "bob@example.com" });
  t.notOk(
    service.logLines.some((line) => line.includes(token) || line.includes("invite for")),
    "with a mail server the log holds no link",
  );
});

t.test("with any names of workspace and team, the mail has the right headers", async (t) => {
  const mail = await startMailServer(t);
  const hostile = "Evil\r\nBcc: eve@example.com\r\n\r\n<b>“Ünï” 🧨\u202etxt\u0000\u2028";
  const { teamId, request } = await officeWithMail(t, { smtpUrl: mail.url, name: hostile, team: hostile });
  await request("POST", INVITES, { emails: ["bob@example.com"], teams: [teamId], role: "admin" });
  const [received] = mail.received;
  t.same(received?.to, ["bob@example.com"], "sent to nobody else");
  const subject = received?.mail.subject ?? "";
  t.equal(subject, "ada invites you to Evil Bcc: eve@example.com <b>“Ünï” 🧨 txt on Signalbox");
  const head = received?.raw.slice(0, received.raw.indexOf("\r\n\r\n")) ?? "";
  t.same(
    head
      .split(/\r\n(?![ \t])/)
      .map((line) => line.slice(0, line.indexOf(":")).toLowerCase())
      .sort(),
    ["content-transfer-encoding", "content-type", "date", "from", "message-id", "mime-version", "subject", "to"],
  );
  t.equal(received?.mail.html, undefined);
  t.notMatch(received?.mail.text, /[\u202e\u2028\0]/);
  t.match(received?.mail.text, /^- Evil Bcc: eve@example\.com <b>/m, "one line a team");
});

t.test("names as long as they may be are cut where they stand in a subject", async (t) => {
  const mail = await startMailServer(t);
  const { request } = await officeWithMail(t, { smtpUrl: mail.url, name: `🧨${"n".repeat(98)}` });
  await request("POST", INVITES, { emails: ["bob@example.com"] });
  t.match(mail.received[0]?.mail.subject, /^ada invites you to 🧨n{78}… on Signalbox$/u);
});

t.test("a mail that is refused or dropped is not-sent, shows so, and can be sent again", async (t) => {
  for (const fate of ["refuse", "drop"] as const) {
    let isWell = false;
    const mail = await startMailServer(t, (to) => (isWell || to !== "bob@example.com" ? "take" : fate));
    const { service, request } = await officeWithMail(t, { smtpUrl: mail.url });
    const invited = await request("POST", INVITES, { emails: ["bob@example.com"] });
    t.same(outcomes(invited), ["bob@example.com not-sent"], fate);
    const [pending] = listItems(await request("GET", INVITES));
    t.equal(pending?.mail, "not-sent");
    t.equal(mail.attempts(), 1, "it is not tried again by itself");
    isWell = true;
    const again = await request("POST", `${INVITES}/${pending?.id}/resend`);
    t.match(again.body, { outcome: "sent-again", inviteId: pending?.id });
    t.equal(mail.received.length, 1);
    t.notOk(service.logLines.some((line) => line.includes("belongs in no log")));
  }
});

t.test("of several addresses, those whose mail is sent are invited, the others are not-sent", async (t) => {
  const mail = await startMailServer(t, (to) => (to.startsWith("no") ? "refuse" : "take"));
  const { request } = await officeWithMail(t, { smtpUrl: mail.url });
  const emails = ["yes1@example.com", "no@example.com", "yes2@example.com", "ada@example.com"];
  t.same(outcomes(await request("POST", INVITES, { emails })), [
    "yes1@example.com invited",
    "no@example.com not-sent",
    "yes2@example.com invited",
    "ada@example.com already-a-member",
  ]);
});

t.test("a mail server that is not there delays nobody", async (t) => {
  const { request } = await officeWithMail(t, { smtpUrl: "smtp://127.0.0.1:1" });
  const invited = await request("POST", INVITES, { emails: ["bob@example.com", "cyd@example.com"] });
  t.same(outcomes(invited), ["bob@example.com not-sent", "cyd@example.com not-sent"]);
});

t.test("a mail server that hangs holds the answer for ten seconds, and the mail may still go out", async (t) => {
  const clock = new ManualClock();
  const mail = await startMailServer(t, (to) => (to === "slow@example.com" ? "hang" : "take"));
  const { request } = await officeWithMail(t, { smtpUrl: mail.url, clock });
  const became = async (email: string) =>
    listItems(await request("GET", INVITES)).find((item) => item.email === email)?.mail;
  let isAnswered = false;
  const asked = request("POST", INVITES, { emails: ["slow@example.com", "bob@example.com"] }).then((reply) => {
    isAnswered = true;
    return reply;
  });
  await mail.until(() => mail.attempts() === 2);
  await until("Bob's mail to be sent", async () => (await became("bob@example.com")) === "sent");
  clock.advance(9_999);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(isAnswered, false);
  clock.advance(1);
  t.same(outcomes(await asked), ["slow@example.com not-sent", "bob@example.com invited"]);
  t.equal(await became("slow@example.com"), "sending");
});

t.test("a request that waits for its mail is answered when the invite is revoked", async (t) => {
  const mail = await startMailServer(t, () => "hang");
  const { request } = await officeWithMail(t, { smtpUrl: mail.url, clock: new ManualClock() });
  const asked = request("POST", INVITES, { emails: ["bob@example.com"] });
  await mail.until(() => mail.attempts() === 1);
  const [pending] = listItems(await request("GET", INVITES));
  t.equal((await request("DELETE", `${INVITES}/${pending?.id}`)).status, 204);
  t.same(outcomes(await asked), ["bob@example.com not-sent"]);
});

t.test("a mail that was on its way when the process ended is sent by the next one, and noted", async (t) => {
  let isWell = false;
  const mail = await startMailServer(t, () => (isWell ? "take" : "hang"));
  const clock = new ManualClock();
  const { service, credentials, request } = await officeWithMail(t, { smtpUrl: mail.url, clock });
  const asked = request("POST", INVITES, { emails: ["bob@example.com"] });
  await mail.until(() => mail.attempts() === 1);
  clock.advance(10_000);
  t.same(outcomes(await asked), ["bob@example.com not-sent"]);
  await service.stop();
  isWell = true;
  const next = await startTestService(t, { folder: service.folder, clock, settings: { SMTP_URL: mail.url } });
  await mail.until(() => mail.received.length === 1);
  const list = () => next.anonymous.request("GET", INVITES, undefined, { ...credentials });
  await until("the mail to be noted as sent", async () => listItems(await list())[0]?.mail === "sent");
  const token = /\/invites\/([\w-]{43})/.exec(mail.received[0]?.mail.text ?? "")?.[1];
  t.match((await next.anonymous.request("GET", `/api/invites/${token}`)).body, { state: "open" });
});

t.test("of invites of one address at the same time one is invited and the others are sent again", async (t) => {
  let isHeld = true;
  const mail = await startMailServer(t, () => (isHeld ? "hang" : "take"));
  const { request } = await officeWithMail(t, { smtpUrl: mail.url });
  const early = request("POST", INVITES, { emails: ["bob@example.com"] });
  await mail.until(() => mail.attempts() === 1);
  isHeld = false;
  const later = Array.from({ length: 5 }, () => request("POST", INVITES, { emails: ["bob@example.com"] }));
  t.same((await Promise.all([early, ...later])).flatMap(outcomes).sort(), [
    "bob@example.com invited",
    ...Array(5).fill("bob@example.com sent-again"),
  ]);
});
