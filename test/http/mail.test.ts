import t from "tap";
import { Canaries } from "../support/canaries.js";
import { startMailServer } from "../support/mail-server.js";
import { ManualClock } from "../support/manual-clock.js";
import { startTestService } from "../support/service.js";
import { until } from "../support/until.js";

t.test("with a mail server the link is only in the mail, neither in the log nor on the disk", async (t) => {
  const mail = await startMailServer(t);
  const service = await startTestService(t, { settings: { SMTP_URL: mail.url } });
  const asked = await service.anonymous.request("POST", "/api/sign-in", { email: "ada@example.com" });
  t.equal(asked.status, 202);
  await mail.until(() => mail.received.length === 1);
  const [sent] = mail.received;
  t.same(sent?.to, ["ada@example.com"]);
  t.match(sent?.raw, /^Subject: Sign in to Signalbox\r$/m);
  t.match(sent?.raw, /^Message-ID: <mail_[0-9A-Z]{26}@signalbox>\r$/im);
  const token = /\/sign-in\/([\w-]{43})/.exec(sent?.raw.replace(/=\r\n/g, "") ?? "")?.[1] ?? "";
  t.equal((await service.anonymous.request("POST", "/api/sessions", { token })).status, 204);
  await service.stop();
  t.notOk(service.logLines.some((line) => line.includes(token) || line.includes("sign-in link")));
  const canaries = new Canaries();
  canaries.add("the link's token", token);
  await canaries.sawFiles(service.folder, "ada@example.com");
  t.same(canaries.sightings(), []);
});

t.test("a mail that was not accepted is sent again while its link is valid, under the same id", async (t) => {
  const clock = new ManualClock();
  let refusals = 2;
  const mail = await startMailServer(t, () => (refusals-- > 0 ? "refuse" : "take"));
  const service = await startTestService(t, { clock, settings: { SMTP_URL: mail.url } });
  await service.anonymous.request("POST", "/api/sign-in", { email: "ada@example.com" });
  for (const [attempts, waitMs] of [
    [1, 5_000],
    [2, 30_000],
  ] as const) {
    await mail.until(() => mail.attempts() === attempts);
    await until("the attempt to be over", () => service.runtime.stats().pendingEffects === 0);
    clock.advance(waitMs - 1);
    t.equal(mail.attempts(), attempts, "not before its time");
    clock.advance(1);
  }
  await mail.until(() => mail.received.length === 1);
  t.equal(mail.attempts(), 3);
  t.notOk(
    service.logLines.some((line) => line.includes("belongs in no log")),
    "what the server said stays out of the log",
  );
});

t.test("a mail server that is not there delays nobody and loses no other mail", async (t) => {
  const service = await startTestService(t, { settings: { SMTP_URL: "smtp://mailer:hunter2@127.0.0.1:1" } });
  const asked = await service.anonymous.request("POST", "/api/sign-in", { email: "ada@example.com" });
  t.equal(asked.status, 202);
  const [line] = await service.logged(/.*a mail was not sent.*/);
  t.match(JSON.parse(line), { code: /ECONNREFUSED|ESOCKET/, server: "127.0.0.1:1" });
  t.notMatch(line, /mailer|hunter2/, "without its credentials");
});

t.test("a mail that was pending when the process ended is sent by the next one", async (t) => {
  let open = false;
  const mail = await startMailServer(t, () => (open ? "take" : "refuse"));
  const service = await startTestService(t, { settings: { SMTP_URL: mail.url } });
  await service.anonymous.request("POST", "/api/sign-in", { email: "ada@example.com" });
  await mail.until(() => mail.attempts() > 0);
  await service.stop();
  open = true;
  const clock = new ManualClock(Date.now() + 10_000);
  const next = await startTestService(t, { folder: service.folder, clock, settings: { SMTP_URL: mail.url } });
  await mail.until(() => mail.received.length === 1);
  const token = /\/sign-in\/([\w-]{43})/.exec(mail.received[0]?.raw.replace(/=\r\n/g, "") ?? "")?.[1] ?? "";
  t.equal((await next.anonymous.request("POST", "/api/sessions", { token })).status, 204);
});

t.test("mails to a domain that takes its time hold up none to another", async (t) => {
  const mail = await startMailServer(t, (to) => (to.endsWith("@slow.example") ? "hang" : "take"));
  const service = await startTestService(t, { settings: { SMTP_URL: mail.url } });
  const signIn = (email: string) => service.anonymous.request("POST", "/api/sign-in", { email });
  for (let n = 0; n < 20; n++) t.equal((await signIn(`many-${n}@slow.example`)).status, 202);
  t.equal((await signIn("ada@example.com")).status, 202);
  await mail.until(() => mail.received.length === 1);
  t.same(mail.received[0]?.to, ["ada@example.com"]);
});
