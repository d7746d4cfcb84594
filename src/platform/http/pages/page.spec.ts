import { describe, expect, it } from '@jest/globals';
import { CursorPage, Page } from './page.js';

describe('A page', () => {
  it.each([
    new Page([1], { total: 1, page: 1, limit: 1, has_next: false }),
    new CursorPage([1], undefined, false),
    new CursorPage([1], undefined, false, async () => 1),
  ])('is not serialized without its links', (page) => {
    expect(() => JSON.stringify(page.map((row) => row))).toThrow('Return paged(reply, page)');
  });
});
