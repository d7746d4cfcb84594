/** All items of a list with cursors. */
export async function listAll<Item>(url: string, path: string): Promise<Item[]> {
  const items: Item[] = [];
  let cursor = '';
  for (let isMore = true; isMore;) {
    const reply = await fetch(`${url}${path}?limit=100&cursor=${encodeURIComponent(cursor)}`);
    const page = (await reply.json()) as { data: Item[]; next_cursor?: string; has_next: boolean };
    items.push(...page.data);
    cursor = page.next_cursor ?? cursor;
    isMore = page.has_next;
  }
  return items;
}
