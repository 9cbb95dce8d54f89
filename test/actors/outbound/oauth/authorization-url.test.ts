import t from "tap";
import { authorizationUrl } from "../../../../actors/outbound/oauth/authorization-url.js";

const own = { clientId: "a b", redirectUri: "https://here.example/back?x=1", state: "s&=", challenge: "c" };

t.test("the service's own parameters replace those of the address and of the definition", async (t) => {
  const address = "https://host.example/auth?tenant=7&state=theirs&prompt=none";
  const parameters = { prompt: "consent", client_id: "theirs" };
  const url = new URL(authorizationUrl(address, { ...own, scopes: ["read", "write:all"], parameters }));
  t.equal(`${url.origin}${url.pathname}`, "https://host.example/auth");
  t.same([...url.searchParams].sort(), [
    ["client_id", "a b"],
    ["code_challenge", "c"],
    ["code_challenge_method", "S256"],
    ["prompt", "consent"],
    ["redirect_uri", "https://here.example/back?x=1"],
    ["response_type", "code"],
    ["scope", "read write:all"],
    ["state", "s&="],
    ["tenant", "7"],
  ]);
});

t.test("a request without scopes has no scope parameter", async (t) => {
  t.notOk(new URL(authorizationUrl("https://host.example/auth", own)).searchParams.has("scope"));
});
