import { z } from "zod";

/** The read-only form of a schema's output. */
export type Shown<Schema extends z.ZodType> = Frozen<z.output<Schema>>;

type Frozen<Value> = Value extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Frozen<Value[Name]> }
    : Value;

/** The members of a schema that are not computed. A row stores them in the form in which they are shown. */
export type Stored<Schema extends z.ZodType, Computed extends keyof Shown<Schema> = never> = Omit<
  Shown<Schema>,
  Computed
>;

/**
 * Functions that compute members of a view from a row. Each member that the row does not store as it is shown needs a
 * function. Other members may have one.
 */
export type Computed<View, Row, Context = undefined> = {
  readonly [Name in Exclude<keyof View, StoredName<View, Row>>]: Compute<View[Name], Row, Context>;
} & { readonly [Name in keyof View]?: Compute<View[Name], Row, Context> };

/** The names of the view's members that the row stores in the form in which they are shown. */
type StoredName<View, Row> = {
  [Name in keyof View & keyof Row]-?: Row extends Pick<View, Name> ? Name : never;
}[keyof View & keyof Row];

type Compute<Value, Row, Context> = (row: Row, context: Context) => Value;

type View<Value, Row, Context> = [Context] extends [undefined] ? (row: Row) => Value : Compute<Value, Row, Context>;

/**
 * Defines the view of a row. The view has the members of the schema, in their order. `computed` computes a member if it
 * has a function for that member. Otherwise the row has the member. Optional members come last, and are absent if
 * undefined. The compiler reports a member that has neither source. The view does not validate values.
 */
export function defineView<Row extends object, Context = undefined>() {
  return <Schema extends z.ZodObject>(
    { shape }: Schema,
    computed: Computed<Shown<Schema>, Row, Context>,
  ): View<Shown<Schema>, Row, Context> => {
    const own: Readonly<Record<string, Compute<unknown, Row, Context> | undefined>> = computed;
    const members = Object.entries(shape).map(([name, schema]) => {
      const read = (row: Row) => (row as Readonly<Record<string, unknown>>)[name];
      return { name, read: own[name] ?? read, isOptional: schema instanceof z.ZodOptional };
    });
    const ordered = [
      ...members.filter(({ isOptional }) => !isOptional),
      ...members.filter(({ isOptional }) => isOptional),
    ];
    const show = (row: Row, context: Context) => {
      const view: Record<string, unknown> = {};
      for (const { name, read, isOptional } of ordered) {
        const value = read(row, context);
        if (value !== undefined || !isOptional) view[name] = value;
      }
      return view as Shown<Schema>;
    };
    return show as View<Shown<Schema>, Row, Context>;
  };
}
