import { randomBytes, randomUUID } from "node:crypto";
import { linkSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isRefusal } from "../command/lost-response.js";
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
 * Issues the tokens of new resources whose token the folder does not set, such as runner pools. Before the service gets
 * a token, the token is written to a file that only its owner can read. So a lost response does not lose the token.
 * Each attempt has a file of its own, which moves to its final path when the service accepts the token.
 */
export class IssuedTokens {
  readonly issued: IssuedToken[] = [];
  readonly #terminal: Terminal;
  readonly #url: string;

  constructor(terminal: Terminal, url: string) {
    this.#terminal = terminal;
    this.#url = url;
  }

  /** Creates a resource. Issues a token if the resource needs one. */
  async keep(wanted: WantedResource, body: Readonly<Record<string, unknown>>, create: Create): Promise<LiveResource> {
    const { resource, complete, address, holder } = wanted;
    const { kind } = resource;
    const path = kind.reveals?.path;
    if (path === undefined || wanted.hidden.has(path) || kind.reveals?.when({ ...complete }) !== true)
      return create(body);
    const token = randomBytes(32).toString("base64url");
    const place = join(configFolder(this.#terminal), "tokens", holder, kind.name, `${address}.json`);
    const attempt = `${place}.${randomUUID()}`;
    writePrivateFile(attempt, { service: this.#url, workspaceId: holder, kind: kind.name, address, token });
    const what = `the token of the ${kind.name} ${address}`;
    let made: LiveResource;
    try {
      made = await create(putAt(body, path.split("."), token));
    } catch (error) {
      if (isRefusal(error)) rmSync(attempt, { force: true });
      else this.#terminal.note(`${what} is in ${claimed(attempt, place)} if the service created it`);
      throw error;
    }
    renameSync(attempt, place);
    this.#terminal.note(`${what} is in ${place}; only you can read it`);
    this.issued.push({ kind: kind.name, address, file: place });
    return made;
  }
}

/**
 * Moves an attempt's file to its final path, unless another file has that path. Returns the path that the attempt's
 * file has then.
 */
function claimed(attempt: string, place: string): string {
  try {
    linkSync(attempt, place);
  } catch {
    return attempt;
  }
  rmSync(attempt);
  return place;
}
