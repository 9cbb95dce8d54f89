import { z } from "zod";
import { writeJson } from "../exact-json.js";

/** Field schemas that several kinds share. The schemas' error messages say what to change. */

/** Matches lowercase words joined by hyphens. */
const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Lowercase words joined by hyphens, at most 64 characters. */
export const slug = z
  .string()
  .max(64, "must be at most 64 characters")
  .regex(SLUG, "must be lowercase words joined by dashes");

/** Text of 1 to 100 characters. */
export const displayName = z.string().min(1, "must not be empty").max(100, "must be at most 100 characters");

const label = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must be letters, digits, dots, dashes or underscores")
  .max(64, "must be at most 64 characters");

/** The labels that a station requires, or that a runner pool gives to its runners. */
export const labels = distinct(label, "must name each label once").max(50, "must be at most 50 labels").default([]);

/** A tool of an integration of the team, `<integration>.<tool>`. */
export const toolName = z
  .string()
  .max(129, "must be at most 129 characters")
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*\.[A-Za-z0-9_-]+$/, "must be a tool as <integration>.<tool>");

/**
 * Optional body fields that the kind's `complete` fills in, so that every response has them. Register the final schema
 * of the field: a schema that is derived from a registered one is not itself registered.
 */
export const completedFields = z.registry();

/** A code-host repository, `owner/name`. */
export const repositoryName = z
  .string()
  .max(200, "must be at most 200 characters")
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9_][A-Za-z0-9._-]*$/, "must be a repository as owner/name");

/** A host name that a secret or connection is bound to. */
export const hostName = z
  .string()
  .max(255, "must be at most 255 characters")
  .regex(
    /^(\*\.)?[a-z0-9.-]+(:\d{1,5})?$/,
    "must be a host without http://, optionally with *. before it or a port after it",
  );

/** Whether one of `hosts` covers `host`. For a pattern with `*.` as `host`, it must cover all matching hosts. */
export function coversHost(hosts: readonly string[], host: string): boolean {
  return hosts.some((one) => one === host || (one.startsWith("*.") && host.endsWith(one.slice(1))));
}

/** Whether one of `hosts` covers the URL's host and port. An entry may include or omit the protocol's default port. */
export function coversAddress(hosts: readonly string[], { host, hostname, port, protocol }: URL): boolean {
  const usual = protocol === "https:" ? "443" : "80";
  return coversHost(hosts, host) || (port === "" && coversHost(hosts, `${hostname}:${usual}`));
}

/** A list without repeated entries. */
export function distinct<T extends z.ZodType>(item: T, message: string) {
  return z.array(item).refine((items) => new Set(items.map((one) => writeJson(one))).size === items.length, message);
}
