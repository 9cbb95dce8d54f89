export type { ProblemSlug, paths } from "./api.js";
export type { Answer, Body, CallOptions, Options, PathWith, Schema, Verb } from "./calls.js";
export { type AnyOptions, type Client, type ClientOptions, createClient, type Received, type Retry } from "./client.js";
export type { HookBody, HookEvent } from "./hooks.js";
export { type Item, type ListPath, listAll } from "./pages.js";
export { ApiError, ConnectionError, type Problem } from "./problem.js";
export { openStream, type Socket, type Stream, type StreamMessage, type StreamOptions } from "./stream.js";
