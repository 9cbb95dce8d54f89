import { readJson, writeJson } from "../../../actors/exact-json.js";
import { type Client, createClient } from "../../client/entry.js";
import { type Defaults, readDefaults, saveDefaults } from "./defaults.js";
import { CommandError, exitCodes } from "./exit-codes.js";
import { chooseLogin, findDevService, type Login, type LoginWish } from "./logins.js";
import { Names } from "./names.js";
import { findStartedDev } from "./places.js";
import { toJson } from "./printable.js";
import type { Interruption, Terminal } from "./terminal.js";

/** The common options of commands. */
export interface CommonOptions extends LoginWish {
  readonly json?: true;
  /** `<workspace slug>/<team key>`, a team's key, or its id. */
  readonly team?: string | undefined;
}

/**
 * The parts that a command works with: the terminal, the service with its credential, and the defaults of the folder.
 */
export class Context {
  readonly terminal: Terminal;
  /** Whether to print JSON for programs instead of text for people. */
  readonly isJson: boolean;
  /** Aborts when the person interrupts the command. The calls of {@link client} abort with it. */
  readonly signal: AbortSignal;
  /** Sets the function that handles further interruptions; see {@link Interruption}. */
  readonly onInterruptedAgain: Interruption["onAgain"];
  readonly #options: CommonOptions;
  #login: Login | null | undefined;
  #client: Client | undefined;
  #names: Names | undefined;
  #hasFailedToRemember = false;

  constructor(terminal: Terminal, options: CommonOptions, { signal, onAgain }: Interruption) {
    this.terminal = terminal;
    this.isJson = options.json === true;
    this.signal = signal;
    this.onInterruptedAgain = onAgain;
    this.#options = options;
  }

  /**
   * The service and the credential. Throws a {@link CommandError} if no service is known, or if the person signed out
   * of the service of `signalbox dev`. For any other service, the credential may be absent.
   */
  get login(): Login {
    this.#login ??= chooseLogin(this.terminal, this.#options);
    if (this.#login === null) throw toNoService(findStartedDev(this.terminal));
    const { url, cookie, token } = this.#login;
    if (cookie === undefined && token === undefined && findDevService(this.terminal) === url) throw toSignedOut(url);
    return this.#login;
  }

  /**
   * The client of the service. Reads integers beyond 2^53 as `bigint`. If a response has `Retry-After`, prints a note,
   * waits and retries, for at most a minute in total.
   */
  get client(): Client {
    const { url, token, cookie } = this.login;
    this.#client ??= createClient({
      baseUrl: url,
      signal: this.signal,
      parse: readJson,
      stringify: writeJson,
      ...(token === undefined ? {} : { token }),
      ...(cookie === undefined ? {} : { cookie }),
      onRetry: ({ message, waitMs }) => this.terminal.note(`${message}: retrying in ${Math.ceil(waitMs / 1_000)} s`),
    });
    return this.#client;
  }

  /** Finds ids by names, addresses, and prefixes of ids. */
  get names(): Names {
    this.#names ??= new Names(this.client, () => this.defaults, this.#options.team);
    return this.#names;
  }

  /** The folder's defaults, as earlier commands set them. */
  get defaults(): Defaults {
    return readDefaults(this.terminal, this.login.url);
  }

  /**
   * Changes defaults of this folder for later commands. Omitted defaults stay, unless the workspace or team changes. If
   * the defaults cannot be saved, for example in a read-only home folder, prints a note once: the command does not
   * fail.
   */
  remember(change: Defaults): void {
    try {
      saveDefaults(this.terminal, this.login.url, change);
    } catch (error) {
      if (this.#hasFailedToRemember) return;
      this.#hasFailedToRemember = true;
      const why = error instanceof Error ? error.message : String(error);
      this.terminal.note(`cannot save the defaults of this folder for later commands: ${why}`);
    }
  }

  /** Prints a result: as JSON for programs, or the lines for people. For `ifLost`, see {@link Terminal.print}. */
  show(value: unknown, toLines: () => readonly string[], ifLost?: string): void {
    const lines = this.isJson ? [toJson(value, 2)] : toLines();
    for (const line of lines) this.terminal.print(line, ifLost);
  }
}

function toNoService(stopped: string | null): CommandError {
  return new CommandError(
    stopped === null
      ? "no service is configured: run signalbox login <url>, or signalbox dev in a git repository"
      : `signalbox dev is not running in ${stopped}: start it again, or pass --url to use another service`,
    exitCodes["no-service"],
  );
}

function toSignedOut(url: string): CommandError {
  return new CommandError(
    `you are signed out: sign in with signalbox login ${url} --link <the link that dev printed>`,
    exitCodes["no-service"],
  );
}
