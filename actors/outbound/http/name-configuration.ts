import { readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";

/** The name settings in the machine's hosts file and resolv.conf. */
export interface NameConfiguration {
  /** Returns a name's addresses in the hosts file; empty if the file does not contain the name. */
  hosted(host: string): readonly string[];
  /** Returns the names to ask name servers for, in order, by the search list and `ndots` of resolv.conf(5). */
  candidates(host: string): readonly string[];
  /**
   * Returns the name servers in the form that `node:dns` accepts. Returns a new array if the servers may have changed.
   */
  servers(): readonly string[];
}

/**
 * Maximum size of a file to read, in bytes. A larger file counts as empty, because lookups wait while a file is read.
 */
const MAX_BYTES = 4 * 1024 * 1024;
/** Maximum number of search domains, the former limit of glibc. */
const MAX_SEARCH = 6;

interface ResolverSettings {
  readonly servers: readonly string[];
  readonly search: readonly string[];
  readonly ndots: number;
}

/**
 * Reads both files, and reads each file again after the file changes. While a file is missing, its last contents are
 * used. If a file is missing from the start, its contents are empty.
 */
export function readNameConfiguration(paths: { readonly hosts: string; readonly resolver: string }): NameConfiguration {
  const hosts = new WatchedFile(paths.hosts, parseHosts);
  const resolver = new WatchedFile(paths.resolver, parseResolver);
  return {
    hosted: (host) => hosts.read().get(host.toLowerCase()) ?? [],
    candidates: (host) => {
      const { search, ndots } = resolver.read();
      if (host.endsWith(".")) return [host];
      const searched = search.map((domain) => `${host}.${domain}`);
      return host.split(".").length > ndots ? [host, ...searched] : [...searched, host];
    },
    servers: () => resolver.read().servers,
  };
}

/** A file's parsed contents. Parses the file again if its time, size or inode changes. */
class WatchedFile<Contents> {
  readonly #path: string;
  readonly #parse: (text: string) => Contents;
  #stamp = "";
  #contents: Contents;

  constructor(path: string, parse: (text: string) => Contents) {
    this.#path = path;
    this.#parse = parse;
    this.#contents = parse("");
  }

  read(): Contents {
    try {
      const { mtimeMs, size, ino } = statSync(this.#path);
      const stamp = `${mtimeMs} ${size} ${ino}`;
      if (stamp !== this.#stamp) {
        this.#contents = this.#parse(size > MAX_BYTES ? "" : readFileSync(this.#path, "utf8"));
        this.#stamp = stamp;
      }
    } catch {
      // Keep the last contents: a file that is being replaced is missing for a moment.
    }
    return this.#contents;
  }
}

function listLines(text: string): string[][] {
  return text.split("\n").map((line) =>
    line
      .replace(/[#;].*/, "")
      .split(/\s+/)
      .filter((word) => word !== ""),
  );
}

function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>();
  for (const [address = "", ...names] of listLines(text)) {
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const known = hosts.get(name.toLowerCase());
      if (known === undefined) hosts.set(name.toLowerCase(), [address]);
      else known.push(address);
    }
  }
  return hosts;
}

function parseResolver(text: string): ResolverSettings {
  const lines = listLines(text);
  const servers = lines.flatMap(([word, server = ""]) => (word === "nameserver" && server !== "" ? [server] : []));
  const search = lines.findLast(([word]) => word === "search" || word === "domain")?.slice(1, 1 + MAX_SEARCH) ?? [];
  const options = lines.flatMap(([word, ...rest]) => (word === "options" ? rest : []));
  const ndots = Number(options.findLast((option) => option.startsWith("ndots:"))?.slice("ndots:".length) ?? 1);
  return { servers, search: search.map((domain) => domain.replace(/\.$/, "")), ndots: Number.isNaN(ndots) ? 1 : ndots };
}
