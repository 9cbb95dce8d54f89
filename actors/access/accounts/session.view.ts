import type { Reading } from "../../../storage/store.js";
import type { PersonCaller } from "../../caller.js";
import { defineView, type Shown } from "../../view.js";
import { listMemberships } from "../../workspaces/member.table.js";
import { sessionSchema } from "./session.js";
import { findUser } from "./session.queries.js";

const showSession = defineView<PersonCaller, Reading>()(sessionSchema, {
  name: ({ userId, email }, reading) => findUser(reading, userId)?.name ?? email,
  workspaces: ({ userId }, reading) => listMemberships(reading, userId),
});

/** Returns the signed-in user and their workspaces, for the API. */
export function sessionView(reading: Reading, caller: PersonCaller): Shown<typeof sessionSchema> {
  return showSession(caller, reading);
}
