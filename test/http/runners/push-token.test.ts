import t from "tap";
import { CodeHostRefused } from "../../../actors/outbound/code-host/code-host-requests.js";
import type { WaitingPush } from "../../../actors/runners/push.js";
import { makePush } from "../../../http/runners/push-token.js";

const waiting: WaitingPush = {
  type: "run.push",
  runId: "run_1",
  fence: 1,
  id: "pr_1-1",
  repository: "acme/app",
  wish: null,
  base: null,
  branch: "signalbox/1-fix",
  title: "Fix",
  host: "code.example",
  installationId: 7,
  workflows: true,
};

t.test("a token is asked for one repository of the order's installation", async (t) => {
  const asked: unknown[] = [];
  const made = await makePush(async (wanted) => {
    asked.push(wanted);
    return { url: "https://code.example/acme/app.git", token: "ghs_1" };
  }, waiting);
  t.same(made, { made: { url: "https://code.example/acme/app.git", token: "ghs_1" }, limitedUntilMs: null });
  t.match(asked, [{ host: "code.example", installationId: 7, repository: "acme/app", workflows: true }]);
});

t.test("where the code host gives none, its reason takes the token's place; a bug is thrown", async (t) => {
  const refusing = () => Promise.reject(new CodeHostRefused("code.example is down."));
  const without = (why: string) => ({ made: { url: "", token: null, why }, limitedUntilMs: null });
  t.same(await makePush(refusing, waiting), without("code.example is down."));
  t.same(await makePush(null, waiting), without("No code host is configured on this service."));
  const limiting = () => Promise.reject(new CodeHostRefused("code.example answered with 403.", { retryAtMs: 5 }));
  t.match(await makePush(limiting, waiting), { made: { token: null, why: /403/ }, limitedUntilMs: 5 });
  await t.rejects(
    makePush(() => Promise.reject(new TypeError("a bug")), waiting),
    TypeError,
  );
});
