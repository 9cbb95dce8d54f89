import t from "tap";
import { findDeletable, findVisibleResource } from "../../../actors/access/visibility/resource.queries.js";
import { recordMade } from "../../../actors/replays/candidates/made-candidate.table.js";
import { replayCandidateKind } from "../../../actors/replays/candidates/replay-candidate.kind.js";
import { candidateKinds } from "../../../actors/replays/reads/replay-schemas.js";
import { replays } from "../../../actors/replays/replay/replay.table.js";
import { replayInputs } from "../../../actors/replays/replay/replay-input.table.js";
import type { Kind } from "../../../actors/resources/kind.js";
import { address } from "../../../runtime/cells/address.js";
import { replayInput, replayRow } from "../../support/replay-rows.js";
import { openReplayScene, openSet, workTask } from "../../support/replay-scene.js";
import { bearer, listItems, remove } from "../../support/resources.js";
import { memoryRows, withTurn } from "../../support/turn.js";
import { putLine, putTeam, workspaceId } from "../../support/work.js";

const base = "/api/resources";

t.test("the live config of a replay is read as a candidate, in no list, and nobody withdraws it", async (t) => {
  const place = await openReplayScene(t);
  const { ada, service, team, lineId, stationId, teamId } = place;
  const { runId } = await workTask(place);
  const set = await openSet(place);
  await ada.request("POST", `${set}/entries`, { runId });
  const ceiling = { amount: 1, currency: "EUR" };
  const started = await ada.request("POST", `${set}/replays`, { candidate: "live", ceiling });
  const replay = replays.get(service.runtime.reading, place.workspaceId, String(started.body?.id));
  const one = `${base}/replay-candidates/${replay?.candidate.id}`;
  t.match((await ada.request("GET", one)).body, {
    id: replay?.candidate.id,
    version: 1,
    kind: "live",
    name: "Live config",
    address: "core/dev/work/Live config",
    teamId,
    lineId,
    stationId,
    stationAddress: "core/dev/work",
    fingerprint: replay?.fingerprint,
    station: { key: "work", name: "Work", kind: "work" },
    changedFrom: { changes: { length: 0 } },
  });
  const list = await ada.request("GET", `${base}/workspaces/${place.workspaceId}/replay-candidates`);
  t.same(listItems(list), []);
  const refused = await remove(ada, one, 1);
  t.match(
    [refused.status, refused.body],
    [409, { type: "urn:service:problem:in-use", detail: /^It is the station's/ }],
  );
  const reader = await bearer(service, ada, { workspaceId: place.workspaceId, name: "reader", scopes: ["read"] });
  t.equal((await reader.request("GET", one)).status, 200);
  t.equal((await remove(reader, one, 1)).status, 403);
  t.equal((await ada.request("POST", `${team}/replays/${replay?.id}/stop`)).status, 204);
  t.equal((await ada.request("DELETE", set)).status, 204);
  t.equal((await ada.request("GET", one)).status, 404, "it goes with its set");
  t.equal((await remove(ada, one, 1)).status, 404);
});

const kind = replayCandidateKind as unknown as Kind;
const caller = { kind: "person", userId: "usr_1", email: "usr_1@example.com", sessionId: "ses_1" } as const;

t.test(
  "a candidate of a check, a search or with the answer is not found, and in use when it is withdrawn",
  async (t) => {
    for (const made of candidateKinds.filter((each) => each !== "proposed" && each !== "live")) {
      const rows = memoryRows();
      putLine(rows);
      putTeam(rows);
      const row = replayRow({ candidate: { id: "cand_made", name: "Made", kind: made } });
      replays.insert(rows, workspaceId, row);
      replayInputs.insert(rows, workspaceId, replayInput());
      withTurn(address(workspaceId, "replay-sets", "team_1"), (turn) => recordMade(turn, row), { rows });
      t.same(findVisibleResource(kind, rows, caller, "cand_made"), { refused: "not-found" }, made);
      t.match(findDeletable(kind, rows, caller, "cand_made"), { refused: "in-use", detail: String }, made);
      const stranger = { ...caller, userId: "usr_9" };
      t.same(
        findDeletable(kind, rows, stranger, "cand_made"),
        { refused: "not-found" },
        "for who may not see the station",
      );
      t.same(findDeletable(kind, rows, caller, "cand_other"), { refused: "not-found" });
    }
  },
);
