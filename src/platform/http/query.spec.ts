import { describe, expect, it } from '@jest/globals';
import { aroundParameter, parseQuery } from './query.js';

describe('parseQuery', () => {
  it.each([
    ['', {}],
    ['&&=x', {}],
    ['a', { a: '' }],
    ['a=', { a: '' }],
    ['a=1&b=2&a=3', { a: ['1', '3'], b: '2' }],
    ['a=1&a=&%61=3', { a: ['1', '', '3'] }],
    ['a=1=2', { a: '1=2' }],
    ['a=x+y%20z%2B', { a: 'x y z+' }],
    ['a=100%', { a: '100%' }],
    ['a=%zz%41', { a: '%zzA' }],
    ['%61=%C3%A4', { a: 'ä' }],
    ['a=ä', { a: 'ä' }],
    ['a=%EF%BF%BD', { a: '\uFFFD' }],
    ['a=%FF', { a: '\uD800' }],
    ['a=%ED%A0%80', { a: '\uD800' }],
    ['a[]=1', { 'a[]': '1' }],
    ['__proto__=1', Object.fromEntries([['__proto__', '1']])],
  ])('parses %j', (query, values) => {
    expect({ ...parseQuery(query) }).toEqual(values);
  });
});

describe('aroundParameter', () => {
  it.each([
    ['', 'page=', ''],
    ['page=1', 'page=', ''],
    ['q=a%26b!~&page=1&limit=5', 'q=a%26b!~&page=', '&limit=5'],
    ['limit=5', 'limit=5&page=', ''],
    ['page=1&x=1&page=7', 'page=', '&x=1'],
    ['p%61ge=1&x', 'page=', '&x'],
    ['&&x=1&', 'x=1&page=', ''],
  ])('splits %j around the parameter', (query, before, after) => {
    expect(aroundParameter(query, 'page')).toEqual([before, after]);
  });
});
