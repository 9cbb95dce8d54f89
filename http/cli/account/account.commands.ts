import type { CommandTree } from "../command/define-command.js";

/** Adds the commands for sign-in and the default team: `login`, `logout`, `whoami` and `use`. */
export function addAccountCommands(program: CommandTree): void {
  program.add<{ readonly email?: string; readonly link?: string }, [string | undefined]>({
    usage: "login [url]",
    summary: "sign in to a service with an emailed link or a workspace token",
    details:
      "Without --token, the service emails you a sign-in link. Paste the whole link or its last part.\n" +
      "A token is read from SIGNALBOX_TOKEN or, with --token -, from standard input.",
    example: "signalbox login https://signalbox.example.com --email you@example.com",
    declare: (command) =>
      command
        .option("--email <address>", "your email address (prompted for in a terminal)")
        .option("--link <link>", "the sign-in link, if you already have it"),
    load: async () => (await import("./login.js")).login,
  });
  program.add<object, []>({
    usage: "logout",
    summary: "sign out and delete the stored credential",
    example: "signalbox logout",
    load: async () => (await import("./logout.js")).logout,
  });
  program.add<object, []>({
    usage: "whoami",
    summary: "show the signed-in user, the service and the default team",
    example: "signalbox whoami",
    load: async () => (await import("./whoami.js")).whoami,
  });
  program.add<object, [string]>({
    usage: "use <team>",
    summary: "set the default team of this folder",
    details: "<team> takes a key, <workspace>/<key>, or an id.",
    example: "signalbox use acme/core",
    load: async () => (await import("./use.js")).use,
  });
}
