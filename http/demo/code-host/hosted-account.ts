/** An account at the code host. */
export interface HostedAccount {
  readonly id: number;
  readonly login: string;
  readonly type: "User" | "Organization" | "Enterprise" | "Bot";
}
