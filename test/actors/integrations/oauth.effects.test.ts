import t from "tap";
import { openTokens } from "../../../actors/integrations/connection-tokens.js";
import { type LinkOutcome, oauthEffects, REFRESH_EFFECT } from "../../../actors/integrations/oauth.effects.js";
import { address } from "../../../runtime/cells/address.js";
import { RunAbort } from "../../../runtime/effects/run-signal.js";
import { INTEGRATION, integrationRows, linkAccount, sealer, WORKSPACE } from "../../support/integration-rows.js";
import { ManualClock } from "../../support/manual-clock.js";

const tokenUrl = "https://api.example.com/token";

/** Renews a token against a host that gives this answer. */
async function renew(answer: object, status = 200): Promise<LinkOutcome> {
  const oauth2 = { authorizeUrl: tokenUrl, tokenUrl, clientId: "c" };
  const rows = integrationRows({ connection: { oauth2 } });
  linkAccount(rows, "team", { access: "old", tokenUrl });
  const unused = () => Promise.reject(new Error("nothing else is asked"));
  const effects = oauthEffects({
    reading: () => rows,
    sealer,
    clock: new ManualClock(),
    log: { error: () => undefined },
    outbound: { get: unused, post: async () => ({ status, body: JSON.stringify(answer), retryAfter: null }) },
    servers: { read: unused },
  });
  const refresh = effects.find(({ name }) => name === REFRESH_EFFECT.name);
  const key = { workspaceId: WORKSPACE, integrationId: INTEGRATION, holder: "team" };
  const context = { id: "1", owner: address(WORKSPACE, "connection", "1"), memo: undefined, mayHaveBegun: false };
  return (await refresh?.prepare(key, context).begin(new RunAbort())) as LinkOutcome;
}

t.test("a renewal keeps its refresh token where the host gives none, whatever it writes for none", async (t) => {
  const answers: readonly [object, number?][] = [
    [{ access_token: "new" }],
    [{ access_token: "new", refresh_token: null, token_type: "bot" }],
    [{ access_token: "new", refresh_token: "", token_type: "user", expires_in: null }],
    [{ access_token: "new", error: "", token_type: null }],
    [{ access_token: "new", token_type: "Bearer" }, 201],
  ];
  for (const [answer, status] of answers) {
    const outcome = await renew(answer, status);
    t.match(outcome, { ok: true, canRenew: true, expiresAtMs: null }, JSON.stringify(answer));
    if (outcome.ok) t.same(openTokens(sealer, outcome.sealed), { access: "new", refresh: "refresh-old" });
  }
  const rotated = await renew({ access_token: "new", refresh_token: "next" });
  if (rotated.ok) t.same(openTokens(sealer, rotated.sealed), { access: "new", refresh: "next" });
  t.ok(rotated.ok);
});

t.test("a renewal with a token that is sent in another way fails, and may be asked for again", async (t) => {
  t.match(await renew({ access_token: "new", token_type: "dpop" }), { ok: false, isFinal: false });
});
