import asyncHooks from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";

/** The disabled replacement for every asynchronous hook that tap creates. */
const unhooked: asyncHooks.AsyncHook = { enable: () => unhooked, disable: () => unhooked };

/**
 * Loads tap without the hook that finds the test of an unhandled error. The hook follows every promise until the
 * promise is collected, and so takes an eighth of the tests' time. Without the hook, an unhandled error ends the
 * process, and so the file that runs fails.
 *
 * Call this function before anything else in the process loads tap, because tap's root test creates the hook.
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
