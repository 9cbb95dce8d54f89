import t from "tap";
import { toOrigin } from "../../actors/opener.js";

t.test("a task comes from a person, a station or an integration; a token counts as a person", async (t) => {
  t.equal(toOrigin({ kind: "person", userId: "usr_1" }), "person");
  t.equal(toOrigin({ kind: "token", tokenId: "tok_1", name: "ci", trust: null }), "person");
  t.equal(toOrigin({ kind: "station", lineId: "line_1", station: "work" }), "station");
  t.equal(toOrigin({ kind: "integration", integration: "tracker" }), "tracker");
  t.equal(toOrigin(null), "unknown");
});
