import { cutText } from "../well-formed.js";
import { MAX_WANTED_CHARACTERS, type OpeningRefusal } from "./config-pull-request.js";

/** Maximum length of an expression in a refusal, in characters. */
const MAX_EXPRESSION_CHARACTERS = 500;
const MAX_MESSAGE_CHARACTERS = 1_000;

/** Creates a refusal that does not concern a single attribute. */
export function refuseOpening(code: OpeningRefusal["code"], message: string): OpeningRefusal {
  return boundRefusal({ code, message, attribute: null, expression: null, wanted: null });
}

/** Shortens a refusal for storage, because streams publish the complete refusal. */
export function boundRefusal({ code, message, attribute, expression, wanted }: OpeningRefusal): OpeningRefusal {
  const isLong = wanted !== null && wanted.length > MAX_WANTED_CHARACTERS;
  const more = isLong ? " The value to set is in the config of each run of the candidate's replays." : "";
  return {
    code,
    message: `${cut(message, MAX_MESSAGE_CHARACTERS)}${more}`,
    attribute,
    expression: expression === null ? null : cut(expression, MAX_EXPRESSION_CHARACTERS),
    wanted: isLong ? null : wanted,
  };
}

/** Cuts a text to a maximum length. A cut text ends with an ellipsis, and no surrogate pair is split. */
function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${cutText(text, characters - 1)}…`;
}

export const noSource = refuseOpening(
  "no-source",
  "The line has no source: set it to the repository file that contains the line's config.",
);

/** Returns the refusal for a repository that no installation has access to. */
export function noConnection(repository: string): OpeningRefusal {
  return refuseOpening(
    "no-connection",
    `No connected installation of the code host has access to ${repository}. Write the candidate's config there by hand.`,
  );
}

/** Returns the refusal after all tries failed. A later pick may succeed. */
export function notAnswered(why: string): OpeningRefusal {
  return refuseOpening("no-connection", `${why} Pick the candidate again later.`);
}

/** Returns the refusal for a request that the code host rejected. */
export function noAccess(repository: string, why: string): OpeningRefusal {
  return refuseOpening("no-access", `The code host rejected it in ${repository}: ${why}`);
}

export function branchTaken(branch: string, repository: string): OpeningRefusal {
  return refuseOpening(
    "branch-taken",
    `${repository} has a branch ${branch} that contains commits by someone else. Remove or rename it, and pick again.`,
  );
}
