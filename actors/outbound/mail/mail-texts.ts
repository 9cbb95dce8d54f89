import { replaceHiddenCharacters } from "../../hidden-characters.js";
import type { Mail } from "./mail.effects.js";

/** Maximum length of an untrusted text in a mail or log line, in characters. A longer text is cut. */
const MAX_NAME = 80;

/** Writes the mail with a sign-in link. */
export function signInMail(to: string, link: string): Mail {
  return {
    to,
    subject: "Sign in to Signalbox",
    text: `Open this link within 15 minutes to sign in:\n\n${link}\n\nIf you did not request it, ignore this mail.\n`,
    logLine: `sign-in link for ${to}: ${link}`,
  };
}

/** The contents of an invite mail. Names are untrusted text. */
export interface InviteOffer {
  readonly to: string;
  readonly inviter: { readonly name: string; readonly email: string };
  readonly workspace: string;
  readonly role: "admin" | "member";
  /** The names of the teams that the invited person joins. */
  readonly teams: readonly string[];
  readonly link: string;
}

/**
 * Writes an invite mail. The subject names the inviter and the workspace. The body names the teams and contains the
 * link.
 */
export function inviteMail({ to, inviter, workspace, role, teams, link }: InviteOffer): Mail {
  const who = oneLine(inviter.name);
  const where = oneLine(workspace);
  const joined = teams.map(oneLine);
  const text = [
    `${who} (${inviter.email}) invites you to the workspace ${where} as ${role === "admin" ? "an admin" : "a member"}.`,
    joined.length === 0
      ? "You join no team yet."
      : ["You join these teams:", ...joined.map((team) => `- ${team}`)].join("\n"),
    "Open this link within 14 days to accept:",
    link,
    `Sign in as ${to} to accept it. If you did not expect this invite, ignore this mail.`,
  ];
  const teamList = joined.length === 0 ? "no team" : `teams ${joined.join(", ")}`;
  return {
    to,
    subject: `${who} invites you to ${where} on Signalbox`,
    text: `${text.join("\n\n")}\n`,
    logLine: `invite for ${to}: ${who} invites you to ${where}, ${teamList}: ${link}`,
  };
}

/** A poll that fails repeatedly. The reason may quote the host. */
export interface FailingPoll {
  readonly to: string;
  /** The workspace's slug. */
  readonly workspace: string;
  /** The integration's key. */
  readonly integration: string;
  readonly reason: string;
  readonly failures: number;
}

/** Writes the mail about a poll that fails repeatedly. */
export function failingPollMail({ to, workspace, integration, reason, failures }: FailingPoll): Mail {
  const what = `The poll of the integration ${integration} in the workspace ${workspace} failed ${failures} times in a row`;
  return {
    to,
    subject: `The poll of ${integration} in ${workspace} fails`,
    text: [
      `${what}: ${oneLine(reason)}.`,
      "The service retries the poll with growing delays, at least once a day. The integration shows the time of the next retry.",
      "You receive no further mail until the poll succeeds.",
    ]
      .join("\n\n")
      .concat("\n"),
    logLine: `note for ${to}: ${what}`,
  };
}

/**
 * Cuts an untrusted text to {@link MAX_NAME}, and puts it on one line, without characters that could imitate other
 * text.
 */
function oneLine(name: string): string {
  const plain = replaceHiddenCharacters(name).replace(/ {2,}/g, " ").trim();
  const characters = Array.from(plain);
  return characters.length <= MAX_NAME ? plain : `${characters.slice(0, MAX_NAME - 1).join("")}…`;
}
