import { Webhook } from "standardwebhooks";
import t from "tap";
import { type CommandHookScene, openCommandHookScene } from "../../../support/command-hooks.js";
import { hookReceiver, hookSecret } from "../../../support/hook-receiver.js";
import { ok } from "../../../support/hook-scene.js";
import { bearer } from "../../../support/resources.js";
import { startTestService } from "../../../support/service.js";
import type { Ran } from "../../../support/signalbox.js";

/** Starts `hook listen`. First the command forwards the last firing, which proves that the command listens. */
function listenTo({ signalbox }: CommandHookScene, url: string, ...options: readonly string[]) {
  const ended = new AbortController();
  const args = ["hook", "listen", "--forward", url, "--last", "1", ...options];
  let count = 0;
  let wake = (): void => undefined;
  const printed = (line: string): void => {
    if (!/ answered \d/.test(line)) return;
    count += 1;
    wake();
  };
  const ran: Promise<Ran> = signalbox.run(args, { interrupted: ended.signal, printed });
  return {
    ran,
    interrupt: () => ended.abort(),
    /** Resolves when the command has printed this many answers. */
    answered: async (wanted: number): Promise<void> => {
      while (count < wanted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

t.test("each firing goes to the address too, signed with the printed secret, and answers change nothing", async (t) => {
  const scene = await openCommandHookScene(t);
  // `local` answers the first request with an error, refuses the second request, and redirects the third request to
  // `elsewhere`.
  const elsewhere = await hookReceiver(t, ok);
  const local = await hookReceiver(t, (response, n) => {
    response.writeHead([500, 200, 307][n - 1] ?? 200, { location: elsewhere.url });
    response.end('{"refuse": "no"}');
  });
  await scene.addHook({
    key: "tell",
    steps: [{ name: "tell", request: { url: scene.receiver.url, headers: { "x-key": "k" } } }],
  });
  const first = await scene.openTask();
  const { ran, interrupt, answered } = listenTo(scene, `${local.url}/hooks?a=b`);
  await local.arrived(1);
  const second = await scene.openTask();
  await local.arrived(2);
  const third = await scene.openTask();
  await answered(3);
  interrupt();
  const { code, out, err } = await ran;
  t.equal(code, 130);
  t.match(err, /forwarded 3 requests/);
  t.equal(elsewhere.requests.length, 0, "no redirect is followed");
  t.match(out.split("\n").slice(2), [/ answered 500$/, / answered 200$/, / answered 307$/]);
  const [, secret = ""] = /signing secret: (\S+)/.exec(out) ?? [];
  const tasks = local.requests.map(({ text, headers }, index) => {
    const sent = new Webhook(secret).verify(text, headers as Record<string, string>) as {
      readonly task: { id: string };
    };
    const original = scene.receiver.requests[index];
    t.equal(text, original?.text);
    t.equal(headers["webhook-id"], original?.headers["webhook-id"]);
    t.equal(headers["service-hook"], "tell");
    t.notOk("x-key" in headers || "service-callback-token" in headers, "the history keeps no secrets");
    return sent.task.id;
  });
  t.same(tasks, [first, second, third]);
  const { items } = JSON.parse((await scene.signalbox.run(["hook", "log", "--json"])).out);
  t.same([...new Set(items.map(({ state }: { readonly state: string }) => state))], ["delivered"]);
});

t.test("a firing whose receiver fails is forwarded at its first attempt, once", async (t) => {
  const scene = await openCommandHookScene(t, (response, n) => {
    response.statusCode = n === 1 ? 200 : 503;
    response.end();
  });
  const local = await hookReceiver(t, ok);
  await scene.addHook({ key: "tell" });
  await scene.openTask();
  const { ran } = listenTo(scene, local.url, "--secret", hookSecret, "--limit", "2", "--hook", "core/tell");
  await local.arrived(1);
  await scene.openTask("waiting");
  t.match(await ran, { code: 0 });
  t.equal(local.requests.length, 2);
  t.ok(local.requests.every(({ verified }) => verified !== null));
});

t.test("it connects again after a restart of the service, and forwards what it missed", async (t) => {
  const scene = await openCommandHookScene(t);
  const local = await hookReceiver(t, ok);
  await scene.addHook({ key: "tell" });
  await scene.openTask();
  const { ran } = listenTo(scene, local.url, "--limit", "2");
  await local.arrived(1);
  await scene.service.stop();
  const { folder, port } = scene.service;
  const settings = { PORT: String(port), OUTBOUND_ALLOW: scene.receiver.url };
  const again = await startTestService(t, { folder, settings });
  const person = await again.signIn("ada@example.com");
  await person.request("POST", `/api/teams/${scene.teamId}/tasks`, { title: "Again", line: "dev" });
  await local.arrived(2);
  const { code, err } = await ran;
  t.equal(code, 0);
  t.match(err, /connection lost: reconnecting in/);
  t.match(local.requests[1]?.text, /"title":"Again"/);
});

t.test("what cannot be forwarded is said: a long body, no answer, a wrong address or secret", async (t) => {
  const scene = await openCommandHookScene(t);
  const { signalbox, service, person, workspaceId } = scene;
  await scene.addHook({
    key: "long",
    steps: [{ name: "tell", request: { url: scene.receiver.url, body: "x".repeat(20_000) } }],
  });
  await scene.openTask();
  await scene.addHook({ key: "tell" });
  await scene.openTask();
  const nobody = ["hook", "listen", "--forward", "http://127.0.0.1:9", "--last", "3", "--limit", "1"];
  const unanswered = await signalbox.run(nobody);
  t.match(unanswered, { code: 0, out: /no answer: \S/ });
  t.match(unanswered.err, /long +task\.opened .* not forwarded: its body has more than 16 KiB/);
  const reader = await bearer(service, person, { workspaceId, name: "reads", scopes: ["read"] });
  const token = reader.credentials.authorization?.replace("Bearer ", "") ?? "";
  const env = { SIGNALBOX_URL: service.baseUrl, SIGNALBOX_TOKEN: token };
  const asProgram = await signalbox.run([...nobody, "--json"], { env });
  t.match(JSON.parse(asProgram.out), { hook: "tell", status: null, error: /./ });
  t.match(asProgram.err, /^\{"forward":"http:\/\/127\.0\.0\.1:9\/","secret":"whsec_/);
  for (const url of ["http://ada:secret@127.0.0.1:9", "localhost:3000", "file:///etc/passwd"]) {
    const { code, err } = await signalbox.run(["hook", "listen", "--forward", url]);
    t.match([code, err], [64, /--forward takes an http or https address/]);
    t.notMatch(err, /secret@/);
  }
  // 24 bytes in base64 with one character too many, and 25 bytes in base64 whose last character has unused bits.
  const loose = [`whsec_${"A".repeat(33)}`, `whsec_${"A".repeat(33)}B==`];
  for (const secret of ["whsec_c2hvcnQ=", "s3cret", ...loose]) {
    const { code, err } = await signalbox.run(["hook", "listen", "--forward", scene.receiver.url, "--secret", secret]);
    t.match([code, err], [64, /--secret takes whsec_ and 24 to 64 bytes in base64/]);
  }
});
