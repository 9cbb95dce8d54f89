import t from "tap";
import { displayName } from "../../../actors/resources/fields.js";

t.test("a display name has no character that hides text, breaks a line or changes the direction", async (t) => {
  for (const hidden of [
    "\u0000",
    "\n",
    "\u0085",
    "\u00ad",
    "\u061c",
    "\u200b",
    "\u200e",
    "\u2028",
    "\u202e",
    "\u2060",
  ]) {
    const { error } = displayName.safeParse(`A${hidden}b`);
    t.same(
      error?.issues.map(({ message }) => message),
      ["must not contain control characters"],
      `U+${hidden.codePointAt(0)?.toString(16)}`,
    );
  }
  for (const name of ["Core", "Zoë 👩‍🚀", "علی‌رضا", "क्‍ष", "x".repeat(100)])
    t.ok(displayName.safeParse(name).success, name);
});
