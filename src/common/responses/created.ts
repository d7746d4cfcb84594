/** The `{data}` of a new resource; the response has its address as `Location`. */
export class Created<T extends { readonly id: number | string }> {
  readonly #collection: string;

  /** @param collection path of the resource's collection, such as `/v1/posts` */
  constructor(
    collection: string,
    readonly data: T,
  ) {
    this.#collection = collection;
  }

  get location(): string {
    return `${this.#collection}/${this.data.id}`;
  }
}
