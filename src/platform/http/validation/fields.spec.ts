import { describe, expect, it } from '@jest/globals';
import { validateSync } from 'class-validator';
import { ListOf } from './fields.js';
import { JsonObject } from './json-object.js';

class Input {
  @ListOf('tag', { min: 0, max: 2 })
  tags: unknown = [];

  @ListOf('type', { max: 2 })
  types: unknown = ['a'];

  @JsonObject()
  settings: unknown = {};
}

const messagesOf = (fields: Partial<Input>): string[] =>
  validateSync(Object.assign(new Input(), fields)).flatMap(({ constraints }) => Object.values(constraints!));

describe('the rules of lists and of JSON', () => {
  it.each([{}, { tags: ['ß', ''] }, { settings: { a: [1, null, { b: 'ß' }] } }])('accept %j', (fields) => {
    expect(messagesOf(fields)).toEqual([]);
  });

  it.each<[Partial<Input>, string]>([
    [{ tags: 'a' }, 'tags must be a list of tags'],
    [{ tags: ['a', 'b', 'c'] }, 'tags must be a list of at most 2 tags'],
    [{ tags: ['a\0'] }, 'tags must be a list of tags, which are strings'],
    [{ types: [] }, 'types must be a list of at least one type'],
    [{ settings: [] }, 'settings must be a JSON object'],
    [{ settings: null }, 'settings must be a JSON object'],
    [{ settings: { a: ['\0'] } }, 'settings must not contain NUL or lone surrogates'],
    [{ settings: { '\ud800': 1 } }, 'settings must not contain NUL or lone surrogates'],
    [
      { settings: { a: Infinity } },
      'settings must not contain numbers beyond those of a double; send them as text',
    ],
  ])('reject %j', (fields, message) => {
    expect(messagesOf(fields)).toEqual([message]);
  });
});
