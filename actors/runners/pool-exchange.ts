import { reference } from "../../runtime/cells/reference.js";
import { storeCredential } from "../access/tokens/minted-credential.table.js";
import type { Minting, TrustMessage } from "../access/trusts/trust.messages.js";
import { findResourceAt } from "../resources/resource.table.js";
import type { RunnerTrustFields } from "./runner-trust.kind.js";

/** Lifetime of a minted pool token, in milliseconds. A runner exchanges again before each new connection. */
const ADMISSION_MS = 60 * 60 * 1_000;

/** Mints a pool token for each pool of a runner trust, in the trust's order. */
export const poolMinting: Minting = {
  actor: reference<TrustMessage>("runner-trust"),
  trustKind: "runner-trust",
  mint(trust, { turn, hashes }) {
    const { pools } = trust.fields as RunnerTrustFields;
    const { id: trustId, version: trustVersion, kind: trustKind, workspaceId } = trust;
    const expiresAtMs = turn.now + ADMISSION_MS;
    const ids = hashes.map((hash, index) => {
      // The pool exists, because a pool that a trust refers to cannot be deleted.
      const pool = findResourceAt(turn, workspaceId, "runner-pool", pools[index] ?? "");
      const id = turn.newId("ptok");
      const grant = { kind: "pool", poolId: pool?.id ?? "" } as const;
      storeCredential(turn, { id, hash, trustKind, trustId, trustVersion, expiresAtMs, grant });
      return id;
    });
    return { ids, expiresAtMs };
  },
};
