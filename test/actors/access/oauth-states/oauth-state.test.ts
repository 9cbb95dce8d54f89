import t, { type Test } from "tap";
import { findSessionCaller } from "../../../../actors/access/accounts/session.queries.js";
import { beginOAuthState, consumeOAuthState } from "../../../../actors/access/oauth-states/oauth-state.js";
import { isRefusal } from "../../../../actors/refusal.js";
import { sha256Hex } from "../../../../actors/sealer.js";
import { ManualClock } from "../../../support/manual-clock.js";
import { type Client, startTestService, type TestService } from "../../../support/service.js";

const terms = { purpose: "code-host", subject: { workspaceId: "ws_1" }, sealed: null } as const;

/** Returns the caller that a client's session cookie identifies. */
function toCaller({ runtime }: TestService, { credentials }: Client) {
  const token = credentials.cookie?.replace("session=", "") ?? "";
  const caller = findSessionCaller(runtime.reading, sha256Hex(token), runtime.clock.now());
  if (caller === null) throw new Error("nobody is signed in");
  return caller;
}

async function open(t: Test) {
  const clock = new ManualClock();
  const service = await startTestService(t, { clock });
  const signIn = async (email: string) => toCaller(service, await service.signIn(email));
  return { clock, service, runtime: service.runtime, ada: await signIn("ada@example.com"), signIn };
}

t.test("a state is valid for its person, session and purpose, once", async (t) => {
  const { runtime, ada, signIn } = await open(t);
  const { state } = await beginOAuthState(runtime, ada, terms);
  t.match(state, /^[\w-]{43}$/);
  const end = (caller = ada, purpose: "code-host" | "integration" = "code-host", of = state) =>
    consumeOAuthState(runtime, caller, { state: of, purpose });
  t.ok(isRefusal(await end(await signIn("bob@example.com"))), "another person");
  t.ok(isRefusal(await end(await signIn("ada@example.com"))), "another session");
  t.ok(isRefusal(await end(ada, "integration")), "another purpose");
  t.ok(isRefusal(await end(ada, "code-host", sha256Hex(state))), "what is kept of it");
  t.same(await end(), terms);
  t.ok(isRefusal(await end()), "a second time");
});

t.test("a state expires after ten minutes", async (t) => {
  const { clock, runtime, ada } = await open(t);
  const first = await beginOAuthState(runtime, ada, terms);
  t.equal(first.expiresAtMs, clock.now() + 10 * 60_000);
  clock.advance(10 * 60_000);
  t.ok(isRefusal(await consumeOAuthState(runtime, ada, { state: first.state, purpose: "code-host" })));
});
