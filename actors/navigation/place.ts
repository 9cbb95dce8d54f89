/** An object that the product shows by its id. */
export interface Place extends Page {
  readonly workspaceId: string;
  /** The team that holds the object; null if no team holds it. */
  readonly teamId: string | null;
  /** The object's title; absent for an object that has only an id. */
  readonly title?: string;
  /** The page that shows the object, if the object has no page of its own. */
  readonly shownOn?: Page;
}

/** An object with a page in the console. */
export interface Page {
  /** A resource kind, or `task`, `run`, `pull-request`, ... */
  readonly kind: string;
  readonly id: string;
  /**
   * The part of the page's address before the id: the team's id, the integration's id, the collection of configuration,
   * or the address of a team or line. Empty if there is no such part.
   */
  readonly under: string;
}
