import t from "tap";
import { refuseInTurn } from "../../../actors/access/visibility/write-permission.js";
import { createKinds } from "../../../actors/catalogue.js";
import { parseAllowList } from "../../../actors/outbound/http/allow-list.js";
import { workspaceActor } from "../../../actors/workspaces/workspace.machine.js";
import { workspaceRef } from "../../../actors/workspaces/workspace.messages.js";
import type { Message } from "../../../runtime/turns/turn.js";
import { type Stepping, stepByHand, type TurnTaken } from "../../support/turn.js";

const kinds = createKinds({ allowList: parseAllowList(""), signsTokens: false });
const caller = { kind: "person", userId: "usr_1", email: "ada@example.com", sessionId: "ses_1" } as const;
const common = { kind: "workspace", caller, client: null, teamId: null, hidden: {} };
const idempotency = { scope: "usr_1 workspace ", key: "k", digest: "d" };

const open = (openBeforeMs: number) =>
  ({ ...common, type: "workspace.open", fields: { slug: "acme", name: "Acme" }, idempotency, openBeforeMs }) as Message;
const ask = { type: "name.ask", name: ["acme"], untilMs: 7 } as Message;
const team = {
  ...common,
  type: "resource.create",
  kind: "team",
  fields: { key: "core", name: "Core" },
  idempotency,
} as Message;
const close = { ...common, type: "resource.delete", id: "ws_1", version: 1 } as Message;

const absent = (): Stepping => stepByHand(workspaceActor(kinds, refuseInTurn), workspaceRef("ws_1"));
function opened(): Stepping {
  const stepping = absent();
  stepping.take(open(stepping.now + 1));
  return stepping;
}
function closed(): Stepping {
  const stepping = opened();
  stepping.take(close);
  return stepping;
}
const states: Readonly<Record<string, () => Stepping>> = { absent, open: opened, closed };
const messages: Readonly<Record<string, (stepping: Stepping) => Message>> = {
  "opened in time": ({ now }) => open(now + 1),
  "opened too late": ({ now }) => open(now),
  asked: () => ask,
  "a team": () => team,
};

const table: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  absent: {
    "opened in time": "open made name.confirm",
    "opened too late": "absent too late stopped",
    asked: "absent name.lapse stopped",
    "a team": "absent not-found stopped",
  },
  open: {
    "opened in time": "open replayed",
    "opened too late": "open replayed",
    asked: "open name.confirm",
    "a team": "open made",
  },
  closed: {
    "opened in time": "closed conflict",
    "opened too late": "closed conflict",
    asked: "closed name.confirm",
    "a team": "closed not-found",
  },
};

function told({ answer, sent, stopped }: TurnTaken): string {
  const { refused, isTooLate, replayed } = (answer ?? {}) as Record<string, unknown>;
  const made = replayed === undefined ? undefined : replayed === true ? "replayed" : "made";
  const parts = [
    refused,
    isTooLate === true ? "too late" : undefined,
    made,
    ...sent.map(({ message }) => message.type),
  ];
  return [...parts, stopped ? "stopped" : undefined].filter((part) => part !== undefined).join(" ");
}

t.test("in every state, messages that open a workspace or check its slug do what the table says", async (t) => {
  for (const [state, make] of Object.entries(states)) {
    for (const [name, message] of Object.entries(messages)) {
      const stepping = make();
      t.equal(stepping.value, state);
      const taken = stepping.take(message(stepping));
      t.equal(`${stepping.value} ${told(taken)}`, table[state]?.[name], `${state}, ${name}`);
    }
  }
});

t.test("the answer to a question names the claim that was asked about", async (t) => {
  const { sent } = absent().take(ask);
  t.match(sent, [{ message: { type: "name.lapse", name: ["acme"], workspaceId: "ws_1", untilMs: 7 } }]);
  t.match(opened().take(ask).sent, [{ message: { type: "name.confirm", name: ["acme"], workspaceId: "ws_1" } }]);
});
