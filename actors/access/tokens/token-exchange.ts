import { reference } from "../../../runtime/cells/reference.js";
import type { TokenCaller } from "../../caller.js";
import { recordChange } from "../../resources/change-record.table.js";
import type { Minting, TrustMessage } from "../trusts/trust.messages.js";
import { storeCredential } from "./minted-credential.table.js";
import type { TokenTrustFields } from "./workspace-token-trust.kind.js";

/**
 * Mints the workspace token of an exchange. The token acts for the user who defined the trust, within the trust's
 * scopes. The change log records the token as created, but lists do not show the token.
 */
export const tokenMinting: Minting = {
  actor: reference<TrustMessage>("token-trust"),
  trustKind: "workspace-token-trust",
  mint(trust, { turn, subject, hashes, client }) {
    const { scopes, lifetimeMinutes, key } = trust.fields as TokenTrustFields;
    const issuedBy = String(trust.added.definedBy);
    const expiresAtMs = turn.now + lifetimeMinutes * 60_000;
    const ids = hashes.map((hash) => {
      const id = turn.newId("tok");
      const { id: trustId, version: trustVersion, kind: trustKind, workspaceId } = trust;
      const grant = { kind: "token", scopes, issuedBy } as const;
      storeCredential(turn, { id, hash, trustKind, trustId, trustVersion, expiresAtMs, grant });
      const caller: TokenCaller = { kind: "token", tokenId: id, workspaceId, scopes, issuedBy, trust: trustId };
      const details = { trust: trustId, subject, scopes, expiresAt: new Date(expiresAtMs).toISOString() };
      const change = { resource: "workspace-token", resourceId: id, key, action: "created", details } as const;
      recordChange(turn, { ...change, caller, client }, null);
      return id;
    });
    return { ids, expiresAtMs };
  },
};
