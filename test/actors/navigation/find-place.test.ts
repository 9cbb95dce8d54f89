import t from "tap";
import { createKinds } from "../../../actors/catalogue.js";
import { createFindPlace } from "../../../actors/navigation/find-place.js";
import { createSearch } from "../../../actors/navigation/search.queries.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { countingReading } from "../../support/counting-rows.js";
import { measureSteps } from "../../support/measured-steps.js";
import { memoryRows } from "../../support/turn.js";

const HOLDERS = 2_000;
const workspaceId = "ws_1";
const caller = {
  kind: "token",
  tokenId: "tok_1",
  workspaceId,
  scopes: ["read"],
  issuedBy: "usr_1",
  trust: null,
} as const;
const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });

/** Returns rows of a workspace with {@link HOLDERS} teams and as many integrations. */
function scene() {
  const rows = memoryRows();
  rows.put([workspaceId, "row", "resource", "workspace", workspaceId], { id: workspaceId, address: "acme" });
  for (let n = 0; n < HOLDERS; n += 1) {
    rows.put([workspaceId, "row", "resource-address", "team", `t${n}`], `team_${n}`);
    rows.put([workspaceId, "row", "resource-address", "integration", `t0/i${n}`], `intg_${n}`);
  }
  return countingReading(rows);
}

t.test("in a workspace with thousands of teams, the search for an id reads little at once", async (t) => {
  const reading = scene();
  const find = createFindPlace(kinds);
  for (const prefix of ["occ", "dlv", "act"]) {
    const { result, most, total } = measureSteps(reading, find(reading, caller, `${prefix}_${"0".repeat(26)}`));
    t.equal(result, undefined);
    t.ok(total >= HOLDERS, `${prefix} is looked for under every holder`);
    t.ok(most <= 125, `${prefix}: a step read ${most} rows`);
  }
});

t.test("a search of thousands of teams reads little at once", async (t) => {
  const reading = scene();
  const search = createSearch(kinds);
  for (const q of ["t0 t1", `occ_${"0".repeat(26)}`]) {
    const { most } = measureSteps(reading, search(reading, caller, { workspaceId, q, limit: 50 }));
    t.ok(most <= 125, `${q}: a step read ${most} rows`);
  }
});
