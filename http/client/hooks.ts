import type { webhooks } from "./api.js";

/** The name of an event that hooks fire on. */
export type HookEvent = keyof webhooks;

/** The body that a hook's receiver gets on an event, unless the hook defines its own body. */
export type HookBody<On extends HookEvent> = webhooks[On]["post"]["requestBody"]["content"]["application/json"];
