/** A view whose times are dates. */
export type Dated<View> = {
  readonly [Name in keyof View]: Name extends `${string}_at` ? Date : View[Name];
};

/** A view for GraphQL, whose scalar `DateTime` takes a `Date`; views have text, as REST sends it. */
export function withDates<View extends { readonly created_at: string; readonly updated_at?: string }>(
  view: View,
): Dated<View> {
  const { created_at, updated_at } = view;
  return {
    ...view,
    created_at: new Date(created_at),
    ...(updated_at !== undefined && { updated_at: new Date(updated_at) }),
  } as Dated<View>;
}
