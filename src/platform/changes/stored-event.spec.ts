import { expect, it } from '@jest/globals';
import { EventFilter, StoredEvent } from './stored-event.js';

const row = {
  position: 1,
  epoch: '5f1d7c8e9a0b',
  type: 'sample.created',
  subject: '/v1/samples/1',
  time: '2026-11-22T10:15:00.000Z',
  data: '{"id":1}',
  is_private: false,
  owner_id: null,
};

it('StoredEvent parses its data once for all consumers', () => {
  const event = new StoredEvent(row, 'http://127.0.0.1:3000');

  expect(event.data).toEqual({ id: 1 });
  expect(event.data).toBe(event.data);
});

it('EventFilter shows a private event without an owner to no account, and to nobody without one', () => {
  const event = new StoredEvent({ ...row, is_private: true }, 'http://127.0.0.1:3000');

  for (const accountId of [null, 1]) expect(new EventFilter({ accountId }).accepts(event)).toBe(false);
  expect(new EventFilter('everything').accepts(event)).toBe(true);
});
