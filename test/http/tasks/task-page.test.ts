import { createHash } from "node:crypto";
import { Script } from "node:vm";
import t from "tap";
import { taskPage } from "../../../http/tasks/task-page.js";
import { noBrowser, openBrowser } from "../../support/browser.js";
import { until } from "../../support/until.js";
import { openWorkplace } from "../../support/workplace.js";

const DOCUMENT = { "sec-fetch-dest": "document", "sec-fetch-mode": "navigate" };
/** Matches browser console messages about error answers that the page handles. */
const READY_FOR = /status of (401|404)/;
const HOSTILE = '<img src=x onerror="alert(1)"></script><script>alert(2)</script> & Söhne';

for (const TRANSPORT of ["uws", "node"]) {
  t.test(`over ${TRANSPORT}, a browser that opens a task's address is sent to its page, others get JSON`, async (t) => {
    const place = await openWorkplace(t, { settings: { TRANSPORT } });
    const { ada, service } = place;
    const taskId = await place.open({ title: HOSTILE });
    const path = `/api/tasks/${taskId}`;
    for (const client of [ada, service.anonymous]) {
      for (const to of [taskId, "task_none", "a%2Fb"]) {
        const sent = await client.request("GET", `/api/tasks/${to}?from=mail`, undefined, DOCUMENT);
        t.match([sent.status, sent.headers.location, sent.text], [303, `/tasks/${to}`, ""]);
      }
      for (const dest of ["empty", "iframe", "image", "Document"]) {
        const answer = await client.request("GET", path, undefined, { "sec-fetch-dest": dest });
        t.equal(answer.status, client === ada ? 200 : 401, `for ${dest}`);
      }
    }
    const page = await service.anonymous.request("GET", `/tasks/${taskId}`, undefined, DOCUMENT);
    t.match(
      [page.status, page.headers],
      [200, { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" }],
    );
    t.equal(
      (await service.anonymous.request("GET", "/tasks/task_none")).text,
      page.text,
      "it tells nobody what is there",
    );
    t.notMatch(page.text, /onerror|Söhne|Do it/);
    t.equal(
      (await ada.request("POST", `${path}/notes`, { text: "x" }, DOCUMENT)).status,
      200,
      "a write is none to show",
    );
  });
}

t.test("the page runs its own script alone, and inserts nothing as HTML", async (t) => {
  const { text, headers } = taskPage();
  const content = String(text?.content);
  const [, script = ""] = /<script>([\s\S]*)<\/script>/.exec(content) ?? [];
  t.doesNotThrow(() => new Script(script));
  t.notMatch(script, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|Function\(/);
  const digest = createHash("sha256").update(script).digest("base64");
  t.match(headers?.["content-security-policy"], new RegExp(`script-src 'sha256-${digest.replace(/[+]/g, "\\+")}'`));
  t.match(headers?.["content-security-policy"], /default-src 'none'.*form-action 'none'; frame-ancestors 'none'$/);
});

t.test("a person follows a link to a task, signs in, and sees what it waits for", { skip: noBrowser }, async (t) => {
  const place = await openWorkplace(t);
  const { service } = place;
  const taskId = await place.open({ title: HOSTILE, assignee: null });
  const peer = await place.runner();
  const job = await peer.job();
  peer.start(job);
  peer.askPermission(job);
  await place.when(`task/${taskId}`, async () => (await place.task(taskId)).state === "inbox");
  const { context, asked, faults } = await openBrowser(t);
  const page = await context.newPage();
  await page.goto(`${service.baseUrl}/api/tasks/${taskId}`);
  t.equal(new URL(page.url()).pathname, `/tasks/${taskId}`);
  await page.getByText("Sign in to see this task.").waitFor();
  await page.getByLabel("Mail address").fill("ada@example.com");
  const logged = service.logLines.length;
  await page.getByRole("button", { name: "Send me a sign-in link" }).click();
  await page.getByText("A sign-in link is on its way to ada@example.com.").waitFor();
  // The owner has signed in with an earlier link.
  const token = await until("the new link", async () => {
    const lines = service.logLines.slice(logged).join("\n");
    return /sign-in link for ada@example\.com: \S+\/sign-in\/([\w-]{43})/.exec(lines)?.[1] ?? null;
  });
  const second = await context.newPage();
  await second.goto(`${service.baseUrl}/sign-in/${token}`);
  await second.getByRole("button", { name: "Sign in" }).click();
  await second.getByText("You are signed in.").waitFor();
  await second.close();
  await page.reload();
  await page.getByRole("heading", { name: HOSTILE }).waitFor();
  await page
    .getByText(
      "The agent asks for approval to use shell: To look. The task has no assignee to approve it: assign the task first.",
    )
    .waitFor();
  t.same(
    asked.filter((url) => !url.startsWith(`${service.baseUrl}/`)),
    [],
  );
  t.same(
    faults.filter((fault) => !READY_FOR.test(fault)),
    [],
  );
});
