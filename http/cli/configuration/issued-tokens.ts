import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ApiError } from "../../client/entry.js";
import { configFolder } from "../command/places.js";
import { writePrivateFile } from "../command/private-file.js";
import type { Terminal } from "../command/terminal.js";
import { putAt } from "./at-path.js";
import type { WantedResource } from "./folder.js";
import type { LiveResource } from "./live.js";

/** A token that a command issued, and the file that has it. */
export interface IssuedToken {
  readonly kind: string;
  readonly address: string;
  readonly file: string;
}

type Create = (body: unknown) => Promise<LiveResource>;

/**
 * Issues the tokens of new resources whose token the folder does not set, such as runner pools. A token is written to a
 * file that only its owner can read before the service gets it, so that a lost response does not lose the token.
 */
export class IssuedTokens {
  readonly issued: IssuedToken[] = [];
  readonly #terminal: Terminal;
  readonly #url: string;

  constructor(terminal: Terminal, url: string) {
    this.#terminal = terminal;
    this.#url = url;
  }

  /** Creates a resource, with a token if it needs one. */
  async keep(wanted: WantedResource, body: Readonly<Record<string, unknown>>, create: Create): Promise<LiveResource> {
    const { resource, complete, address, holder } = wanted;
    const { kind } = resource;
    const path = kind.reveals?.path;
    if (path === undefined || wanted.hidden.has(path) || kind.reveals?.when({ ...complete }) !== true)
      return create(body);
    const token = randomBytes(32).toString("base64url");
    const file = join(configFolder(this.#terminal), "tokens", holder, kind.name, `${address}.json`);
    writePrivateFile(file, { service: this.#url, workspaceId: holder, kind: kind.name, address, token });
    const issued = { kind: kind.name, address, file };
    this.#terminal.note(`the token of the ${kind.name} ${address} is in ${file}; only you can read it`);
    this.issued.push(issued);
    try {
      return await create(putAt(body, path.split("."), token));
    } catch (error) {
      // After a lost response, the service may have the token.
      if (error instanceof ApiError) rmSync(file, { force: true });
      throw error;
    }
  }
}
