import t from "tap";
import { putMember } from "../../../actors/workspaces/member.table.js";
import {
  ask,
  check,
  disconnect,
  ended,
  failed,
  inState,
  kept,
  link,
  linked,
  personWith,
  type State,
  states,
  terms,
  WORKSPACE,
  woken,
  writeIntegration,
} from "../../support/connection-stepping.js";

/** Message x state -> next state. A dash marks a message that no transition handles. */
const table: Readonly<Record<string, Readonly<Record<State, string>>>> = {
  link: {
    none: "linking",
    linking: "linking",
    connected: "connected",
    refreshing: "refreshing",
    broken: "broken",
    revoking: "linking",
  },
  "link by another": {
    none: "none",
    linking: "linking",
    connected: "connected",
    refreshing: "refreshing",
    broken: "broken",
    revoking: "revoking",
  },
  disconnect: {
    none: "none",
    linking: "none",
    connected: "revoking",
    refreshing: "revoking",
    broken: "none",
    revoking: "revoking",
  },
  "disconnect by the owner": {
    none: "none",
    linking: "linking",
    connected: "connected",
    refreshing: "refreshing",
    broken: "broken",
    revoking: "revoking",
  },
  ask: {
    none: "none",
    linking: "linking",
    connected: "connected",
    refreshing: "refreshing",
    broken: "broken",
    revoking: "revoking",
  },
  "check, all as it was": {
    none: "none",
    linking: "linking",
    connected: "connected",
    refreshing: "refreshing",
    broken: "broken",
    revoking: "revoking",
  },
  "check, off the team": {
    none: "none",
    linking: "none",
    connected: "revoking",
    refreshing: "revoking",
    broken: "none",
    revoking: "revoking",
  },
  "check, another client": {
    none: "none",
    linking: "linking",
    connected: "broken",
    refreshing: "broken",
    broken: "broken",
    revoking: "revoking",
  },
  "an exchange succeeded": {
    none: "-",
    linking: "connected",
    connected: "connected",
    refreshing: "connected",
    broken: "connected",
    revoking: "none",
  },
  "an exchange failed": {
    none: "-",
    linking: "none",
    connected: "connected",
    refreshing: "refreshing",
    broken: "broken",
    revoking: "none",
  },
  "an exchange succeeded, off the team": {
    none: "-",
    linking: "revoking",
    connected: "revoking",
    refreshing: "revoking",
    broken: "revoking",
    revoking: "none",
  },
  "a renewal succeeded": {
    none: "-",
    linking: "linking",
    connected: "connected",
    refreshing: "connected",
    broken: "broken",
    revoking: "none",
  },
  "a renewal failed": {
    none: "-",
    linking: "linking",
    connected: "connected",
    refreshing: "refreshing",
    broken: "broken",
    revoking: "none",
  },
  "a renewal was refused": {
    none: "-",
    linking: "linking",
    connected: "connected",
    refreshing: "broken",
    broken: "broken",
    revoking: "none",
  },
  "woken to renew": {
    none: "-",
    linking: "-",
    connected: "refreshing",
    refreshing: "refreshing",
    broken: "-",
    revoking: "-",
  },
};

function send(what: string, { actor, effectId }: ReturnType<typeof inState>) {
  const leaveTeam = () => putMember(actor.rows, WORKSPACE, personWith("usr_ada"));
  // Returns the id of an exchange. In `linking`, the current effect is the exchange. In `none` and `revoking`, no
  // exchange starts, so this function returns the current effect's id. In other states, it starts another exchange.
  const exchanging = () => {
    if (actor.value === "linking") return "first";
    if (actor.value === "none" || actor.value === "revoking") return effectId;
    actor.take(link("second"));
    return "second";
  };
  switch (what) {
    case "link":
      return actor.take(link("second"));
    case "link by another":
      return actor.take(link("second", "usr_owner"));
    case "disconnect":
      return actor.take(disconnect());
    case "disconnect by the owner":
      return actor.take(disconnect("usr_owner"));
    case "ask":
      return actor.take(ask(["comment"]));
    case "check, off the team":
      leaveTeam();
      return actor.take(check);
    case "check, another client":
      writeIntegration(actor, { ...terms, clientId: "another" });
      return actor.take(check);
    case "check, all as it was":
      return actor.take(check);
    case "an exchange succeeded":
      return actor.take(ended(exchanging(), linked(actor)));
    case "an exchange failed":
      return actor.take(ended(exchanging(), failed()));
    case "an exchange succeeded, off the team": {
      const id = exchanging();
      leaveTeam();
      return actor.take(ended(id, linked(actor)));
    }
    case "a renewal succeeded":
      return actor.take(ended(actor.value === "linking" ? "other" : effectId, linked(actor)));
    case "a renewal failed":
      return actor.take(ended(actor.value === "linking" ? "other" : effectId, failed()));
    case "a renewal was refused":
      return actor.take(ended(actor.value === "linking" ? "other" : effectId, failed(true)));
    default:
      return actor.take(woken);
  }
}

t.test("in every state, each message does what the table says, and the row has the machine's state", async (t) => {
  for (const [what, leads] of Object.entries(table)) {
    for (const state of states) {
      const begun = inState(state);
      t.equal(begun.actor.value, state);
      const turn = send(what, begun);
      const { actor } = begun;
      t.equal(turn.taken ? actor.value : "-", leads[state], `${what} in ${state}`);
      if (!turn.taken) continue;
      const row = kept(actor);
      const shown = actor.value === "revoking" ? "none" : String(actor.value);
      t.equal(row?.state ?? "none", shown, `the row after ${what} in ${state}`);
      t.equal(row?.linked != null, ["connected", "refreshing"].includes(shown), `tokens after ${what} in ${state}`);
      t.equal(turn.stopped, actor.value === "none", `${what} in ${state} leaves an actor behind or not`);
    }
  }
});
