import type { CommandTree } from "../command/define-command.js";

/** Adds the commands for sign-in and the default team: `login`, `logout`, `whoami` and `use`. */
export function addAccountCommands(program: CommandTree): void {
  program.add<{ readonly email?: string; readonly link?: string }, [string | undefined]>({
    usage: "login [url]",
    summary: "sign in to a service with an emailed link or a workspace token",
    details:
      "Without --token, the service sends a mail with a link to your address. Paste the link, or only its last part.\n" +
      "A token is read from SIGNALBOX_TOKEN or, with --token -, from standard input.",
    example: "signalbox login https://signalbox.example.com --email you@example.com",
    declare: (command) =>
      command
        .option("--email <address>", "your email address (prompted for in a terminal)")
        .option("--link <link>", "the link of the mail, if you have it already"),
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
    summary: "make a team the default in this folder: <workspace>/<team>, or a team's key",
    example: "signalbox use acme/core",
    load: async () => (await import("./use.js")).use,
  });
}
