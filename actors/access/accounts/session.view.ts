import { z } from "zod";
import type { Reading } from "../../../storage/store.js";
import type { PersonCaller } from "../../caller.js";
import { listMemberships } from "../../workspaces/member.table.js";
import { findUser } from "./session.queries.js";

/** The signed-in user and their workspaces. */
export const sessionSchema = z.strictObject({
  userId: z.string(),
  email: z.string(),
  name: z.string(),
  workspaces: z.array(z.strictObject({ id: z.string(), slug: z.string(), role: z.string() })),
});

/** Returns the user of a session. */
export function sessionView(reading: Reading, { userId, email }: PersonCaller): z.output<typeof sessionSchema> {
  const name = findUser(reading, userId)?.name ?? email;
  return { userId, email, name, workspaces: listMemberships(reading, userId) };
}
