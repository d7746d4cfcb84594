import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EventTypes } from '../src/platform/changes/index.js';
import { startApi, type TestApi } from './support/api.js';
import { reference } from './support/reference.js';
import { ANY_STORE } from './support/stores.js';

describe('the OpenAPI document', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE);
  });
  afterAll(() => api.stop());

  it('has a schema for each type of event, in the feed and in the stream', () => {
    const { schemas } = reference.components;
    const types = schemas.CloudEvent.oneOf.map(
      ({ $ref }: any) => schemas[$ref.split('/').at(-1)].allOf[1].properties.type.const,
    );

    expect(types.toSorted()).toEqual(api.app.get(EventTypes, { strict: false }).all.toSorted());
    expect(schemas.EventType.enum).toEqual(expect.arrayContaining(types));
    expect(schemas.CloudEventCursorPage.properties.data.items).toEqual({
      $ref: '#/components/schemas/CloudEvent',
    });
    expect(schemas.CloudEventCursorPage.properties.next_cursor.description).toContain(
      'whenever there is data',
    );
  });
});
