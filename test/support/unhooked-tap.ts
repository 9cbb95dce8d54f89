import asyncHooks from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";

/** Every asynchronous hook of a domain of tap's stays off. */
const unhooked: asyncHooks.AsyncHook = { enable: () => unhooked, disable: () => unhooked };

/**
 * Loads tap without the hook by which it finds the test that an error belongs to that nobody handles. The hook follows
 * every promise from its making until it is collected, which takes an eighth of the tests' time. Such an error ends the
 * process instead, as it does without tap, and so fails the file that ran.
 *
 * The first caller in the process has to be the first that loads tap, whose root test makes the hook.
 */
export async function loadUnhookedTap() {
  const { createHook } = asyncHooks;
  asyncHooks.createHook = () => unhooked;
  syncBuiltinESMExports();
  const { t } = await import("tap");
  asyncHooks.createHook = createHook;
  syncBuiltinESMExports();
  return t;
}
