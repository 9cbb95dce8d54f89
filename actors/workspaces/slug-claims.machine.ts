/**
 * Stores which workspace each slug belongs to, `slug-claims/all` in the global partition. Also stores the idempotency
 * keys of the requests that claim slugs. `actors/tables/claims.ts` describes the steps of a claim. There is only one
 * state, because rows store the claims.
 *
 * | state   | moved by                       | condition              | next    | also                               |
 * |---------|--------------------------------|------------------------|---------|------------------------------------|
 * | keeping | slug.claim                     | a new key, a free slug | keeping | claims the slug under the key      |
 * | keeping | slug.claim                     | a known key, same body | keeping | answers with the key's workspace   |
 * | keeping | slug.claim                     | another body           | keeping | refused                            |
 * | keeping | slug.claim                     | a slug that is taken   | keeping | refused                            |
 * | keeping | name.confirm, .release, .lapse |                        | keeping | removes the key of a freed slug    |
 * | keeping | woken `sweep`                  |                        | keeping | removes keys older than the window |
 * | keeping | woken, any other               |                        | keeping | asks the workspace                 |
 *
 * A closed workspace keeps its slug.
 */
import { createChart } from "../../runtime/cells/chart.js";
import { defineActor } from "../../runtime/cells/define-actor.js";
import { reference } from "../../runtime/cells/reference.js";
import type { Answered, Delivered, Turn, Woken } from "../../runtime/turns/turn.js";
import { GLOBAL_PARTITION } from "../../storage/keys.js";
import type { Reading } from "../../storage/store.js";
import { table } from "../../storage/table.js";
import { isRefusal, type Refusal } from "../refusal.js";
import {
  findAttempt,
  forgetAttempt,
  IDEMPOTENCY_WINDOW_MS,
  recordAttempt,
  sweepAttempts,
} from "../resources/idempotency.table.js";
import { addressTaken } from "../resources/operations.js";
import type { Idempotency } from "../resources/resource.messages.js";
import {
  askHolder,
  type ClaimRow,
  type Claims,
  type ConfirmName,
  claimName,
  confirmName,
  findClaimant,
  freeName,
  type LapseName,
  type ReleaseName,
} from "../tables/claims.js";
import { workspaceKind } from "./workspace.kind.js";
import { workspaceRef } from "./workspace.messages.js";

/** Claims a slug for a new workspace, under the request's idempotency key. */
export interface ClaimSlug extends Answered<SlugClaimed | Refusal> {
  readonly type: "slug.claim";
  readonly slug: string;
  /** The id that the new workspace gets, unless an earlier request with the same key already has a workspace. */
  readonly workspaceId: string;
  readonly idempotency: Idempotency;
}

/**
 * The workspace that the request's key has claimed the slug for. The workspace is open, or must be opened before
 * `openBeforeMs`.
 */
export interface SlugClaimed {
  readonly workspaceId: string;
  readonly openBeforeMs: number;
}

/**
 * The last part of a claim's lifetime, in milliseconds. In this part the workspace can no longer be opened. It covers
 * the clock difference between two nodes.
 */
const MARGIN_MS = 10_000;
const SWEEP = "sweep";

const references = reference<ClaimSlug | ConfirmName | ReleaseName | LapseName>("slug-claims");
/** The actor that stores the claims. */
export const slugClaimsRef = references(GLOBAL_PARTITION, "all");

export const claims: Claims = {
  rows: table<ClaimRow>("workspace-slug"),
  holder: (workspaceId) => workspaceRef(workspaceId),
};

/**
 * Finds the id of the workspace with this slug: open, closed, or about to be opened. Returns undefined if the slug is
 * free.
 */
export function findWorkspaceBySlug(reading: Reading, slug: string): string | undefined {
  return findClaimant(claims, reading, [slug]);
}

interface SlugClaimsContext {
  /** Whether a wake-up for the sweep is set. */
  readonly sweeping: boolean;
}

const { on, machine } = createChart<SlugClaimsContext, ClaimSlug | ConfirmName | ReleaseName | LapseName | Woken>();

const slugClaimsMachine = machine({
  id: "slug-claims",
  context: { sweeping: false },
  initial: "keeping",
  states: {
    keeping: {
      on: {
        ...on("slug.claim", (event, { sweeping }) => {
          event.turn.reply(claimSlug(event));
          if (!sweeping) event.turn.wake(SWEEP, event.turn.now + IDEMPOTENCY_WINDOW_MS);
          return { sweeping: true };
        }),
        ...on("name.confirm", (event) => confirmName(claims, event.turn, event)),
        ...on("name.release", free),
        ...on("name.lapse", free),
        ...on("woken", ({ turn, name }) => (name === SWEEP ? sweep(turn) : askHolder(claims, turn, name))),
      },
    },
  },
});

/** See the table above. */
export const slugClaimsActor = defineActor(references, { machine: slugClaimsMachine, version: 1 });

function claimSlug({ turn, slug, workspaceId, idempotency }: Delivered<ClaimSlug>): SlugClaimed | Refusal {
  const earlier = findAttempt(turn, GLOBAL_PARTITION, idempotency, turn.now);
  if (earlier !== null && isRefusal(earlier)) return earlier;
  const { scope, key } = idempotency;
  const wanted = { workspaceId: earlier?.resourceId ?? workspaceId, attempt: { scope, key } };
  const claim = claimName(claims, turn, [slug], wanted);
  if (claim === null) return addressTaken(workspaceKind, slug);
  if (earlier === null) recordAttempt(turn, GLOBAL_PARTITION, idempotency, workspaceId);
  return { workspaceId: claim.workspaceId, openBeforeMs: (claim.pending?.untilMs ?? turn.now) - MARGIN_MS };
}

function free(event: Delivered<ReleaseName | LapseName>): void {
  const { turn } = event;
  const attempt = freeName(claims, turn, event)?.pending?.attempt;
  if (attempt !== undefined) forgetAttempt(turn, GLOBAL_PARTITION, attempt);
}

function sweep(turn: Turn): void {
  turn.wake(SWEEP, sweepAttempts(turn, GLOBAL_PARTITION));
}
