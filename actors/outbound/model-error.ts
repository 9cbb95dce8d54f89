import { parseJson } from "./json-answer.js";

/** Most nested members of an error that are looked at. */
const MAX_LOOKED_AT = 20;

type Members = Readonly<Record<string, unknown>>;

/** The error code of a refusal if it is a plain word; else null. The other texts of an error are never shown or logged. */
export function readErrorCode(body: string): string | null {
  const { error } = toMembers(parseJson(body));
  const { code } = toMembers(error);
  return typeof code === "string" && /^[a-z_]{1,64}$/.test(code) ? code : null;
}

/**
 * The HTTP status that an error stands for which arrives inside an answer of 200: its code where that is a status from
 * 400 on, else the status of a well-known word such as `invalid_request_error`. Null when the error names neither.
 * `errors` are the objects that may name it, the closest one first.
 */
export function readErrorStatus(errors: readonly unknown[]): number | null {
  const codes = errors.slice(0, MAX_LOOKED_AT).flatMap((error) => {
    const { code, status, status_code: statusCode, http_code: httpCode, type } = toMembers(error);
    return [code, status, statusCode, httpCode, type];
  });
  const statuses = codes.flatMap((code) => toStatus(code) ?? []);
  const words = codes.flatMap((code) => (typeof code === "string" ? (statusOfWord(code) ?? []) : []));
  return statuses[0] ?? words[0] ?? null;
}

/** A code that is an HTTP status of an error, as a number or in digits. */
function toStatus(code: unknown): number | null {
  const isDigits = typeof code === "number" || (typeof code === "string" && /^\d{3}$/.test(code));
  const status = isDigits ? Number(code) : 0;
  return Number.isInteger(status) && status >= 400 && status < 600 ? status : null;
}

/** Words for errors that do not pass by themselves. Every other word, such as `overloaded_error`, is one to ask again. */
const STATUS_OF_WORDS: readonly (readonly [RegExp, number])[] = [
  [/invalid_api_key|unauthenticated|unauthori[sz]ed|authentication/i, 401],
  [/permission|forbidden/i, 403],
  [/not_found/i, 404],
  [/invalid|unsupported|not_supported|bad_request|context_length|content_(policy|filter)/i, 400],
];

function statusOfWord(word: string): number | null {
  return STATUS_OF_WORDS.find(([words]) => words.test(word))?.[1] ?? null;
}

/** The members of an object; none for any other value. */
export function toMembers(value: unknown): Members {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
