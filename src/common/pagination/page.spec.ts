import { describe, expect, it } from '@jest/globals';
import { CursorPage, Page } from './page.js';

const META = { total: 1, page: 1, limit: 1, has_next: false };

describe('A page', () => {
  it('is serialized if its rows are complete', () => {
    expect(JSON.stringify(new Page([1], META))).toBe(JSON.stringify({ data: [1], meta: META }));
  });

  it.each([new Page([1], META, async () => 1), new CursorPage([1], undefined, false, async () => 1)])(
    'is not serialized if its rows are incomplete',
    (page) => {
      expect(() => JSON.stringify(page.map((row) => row))).toThrow('Return paged(reply, page)');
    },
  );
});
