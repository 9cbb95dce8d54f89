import ipaddr from "ipaddr.js";
import { WrongSetting } from "../../process/config.js";
import { assertListenable } from "../../process/open-edge.js";
import { readSettingsFile, SettingsSource, withSettingsFile } from "../../process/settings-source.js";
import type { Config } from "../../wire/config.js";
import { CommandError, exitCodes } from "../command/exit-codes.js";
import type { Terminal } from "../command/terminal.js";

/** The settings of a service of `signalbox dev`. */
export interface DevSettings {
  readonly source: SettingsSource;
  readonly config: Config;
  /** Whether the person has given the port. */
  readonly isPortGiven: boolean;
}

/**
 * Reads the settings from the environment and the settings file, like the service. Throws a {@link CommandError} for a
 * wrong setting, and for a `HOST` that other machines can reach: anybody who reached the service could start programs
 * here.
 */
export function readSettings(
  { env, note }: Terminal,
  { dataFolder, port }: { readonly dataFolder: string; readonly port: string | undefined },
): DevSettings {
  try {
    if ((env.DATA_DIR ?? "") !== "") note(`DATA_DIR has no effect here: the store is in ${dataFolder}`);
    const source = new SettingsSource({ ...env, DATA_DIR: dataFolder, ...(port === undefined ? {} : { PORT: port }) });
    const { config } = source;
    if (!isLoopback(config.host)) {
      throw new CommandError(
        `HOST: signalbox dev does not listen on ${config.host}, because agents run as you: unset HOST, or run ` +
          "signalbox serve and signalbox runner",
        exitCodes.usage,
      );
    }
    const given = port ?? withSettingsFile(env, readSettingsFile(env)).PORT ?? "";
    return { source, config, isPortGiven: given !== "" };
  } catch (error) {
    if (!(error instanceof WrongSetting)) throw error;
    throw new CommandError(
      port === undefined ? error.message : error.message.replace(/^PORT/, "--port"),
      exitCodes.usage,
    );
  }
}

/** Whether only this machine can reach a host. */
function isLoopback(host: string): boolean {
  if (host.toLowerCase() === "localhost") return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback";
}

/**
 * Returns a function that decides by the `Host` header whether the service answers a request. It accepts loopback
 * addresses, `localhost`, and the host of `BASE_URL`. This prevents DNS rebinding: a web page whose own host name
 * resolves to this machine gets no answers.
 */
export function admitLocalHosts({ baseUrl }: Config): (host: string | undefined) => boolean {
  const own = baseUrl === null ? null : new URL(baseUrl).host;
  return (host = "") => {
    const [, address, name = address] = /^(?:\[([^[\]]+)\]|([^[\]:]+))(?::\d+)?$/.exec(host) ?? [];
    return host.toLowerCase() === own || (name !== undefined && isLoopback(name));
  };
}

const MAX_PORT = 65_535;
/** How many ports to try, from the default on. */
const PORTS_TRIED = 20;

/**
 * Returns the given port. If no port is given, returns the first free port of these: the last port of the service, and
 * {@link PORTS_TRIED} ports starting at the default. If none of them is free, returns 0, which lets the system choose a
 * port.
 */
export async function choosePort({ config, isPortGiven }: DevSettings, last: number | null): Promise<number> {
  if (isPortGiven) return config.port;
  const ports = Array.from({ length: PORTS_TRIED }, (_, index) => config.port + index);
  for (const port of [...(last === null ? [] : [last]), ...ports]) {
    if (port > MAX_PORT) break;
    const isFree = await assertListenable({ ...config, port }).then(
      () => true,
      () => false,
    );
    if (isFree) return port;
  }
  return 0;
}
