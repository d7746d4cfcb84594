/** `{data}` of a resource that was made just now; the reply carries its address as `Location`. */
export class Created<T extends { readonly id: number | string }> {
  readonly #collection: string;

  /** @param collection path of the collection that the resource joined, such as `/v1/posts` */
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
