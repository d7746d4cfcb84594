import { expect, it } from '@jest/globals';
import { StoredEvent } from './stored-event.js';

it('StoredEvent parses its data once for all consumers', () => {
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
  const event = new StoredEvent(row, 'http://127.0.0.1:3000');

  expect(event.data).toEqual({ id: 1 });
  expect(event.data).toBe(event.data);
});
