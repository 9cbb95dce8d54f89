/** The address of one actor: its kind and id, and the partition that holds its rows. */
export interface Address {
  readonly partition: string;
  readonly kind: string;
  readonly id: string;
}

export function address(partition: string, kind: string, id: string): Address {
  return { partition, kind, id };
}

/** The text form `<partition>/<kind>/<id>`, for logs and map keys. */
export function addressText(of: Address): string {
  return `${of.partition}/${of.kind}/${of.id}`;
}
