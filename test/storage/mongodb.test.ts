/** The parts of the adapter that need no server. The rest is in the integration suites. */
import { describe, expect, it } from 'vitest';
import { databaseName, isMongoUrl, maskMongoUrl } from '../../src/storage/mongodb/connection-string.ts';
import { findFilter, findSort, searchableFields } from '../../src/storage/mongodb/find-filter.ts';

describe('URLs of MongoDB', () => {
  it.each([
    ['mongodb://localhost', 'docket', 'mongodb://localhost/docket'],
    ['mongodb://a:1,b:2/cases?replicaSet=rs0', 'cases', 'mongodb://a:1,b:2/cases'],
    ['mongodb+srv://root:geheim@c.example/?tls=true', 'docket', 'mongodb+srv://(masked)@c.example/docket'],
  ])('%s', (url, database, shown) => {
    expect(isMongoUrl(url)).toBe(true);
    expect(databaseName(url)).toBe(database);
    expect(maskMongoUrl(url)).toBe(shown);
  });

  it.each(['', 'postgres://h', 'mongodb://', 'mongodb://user:p@ss@h/x'])('%s is not valid', (url) => {
    expect(isMongoUrl(url)).toBe(false);
  });
});

describe('searching in MongoDB', () => {
  it('accepts top-level fields with a single value of limited length', () => {
    const document = { a: 'x', n: 1, yes: true, none: null, list: [1], deep: {}, 'a.b': 1, long: 'x'.repeat(2000) };
    expect(searchableFields(document)).toEqual({ a: 'x', n: 1, yes: true, none: null });
    expect(searchableFields({ _bsontype: 'ObjectId' })).toEqual({});
  });

  it('rejects names that are not plain fields, and texts that are not searchable', () => {
    const find = (field: string, value = 'x') => findFilter({ collection: 'c', equals: { [field]: value }, limit: 1 });
    for (const field of ['$where', 'a.b', '', '_bsontype', 'a b']) expect(() => find(field)).toThrow(RangeError);
    expect(() => find('a', 'x'.repeat(2000))).toThrow(RangeError);
    const sort = (field: string) => findSort({ order: { field, direction: 'ascending' } });
    expect(() => sort('$natural')).toThrow(RangeError);
  });

  it('sorts by the id last, in the same direction', () => {
    const by = (direction: 'ascending' | 'descending') => findSort({ order: { field: 'k', direction } });
    expect(Object.entries(by('descending'))).toEqual([
      ['fields.k', -1],
      ['_id', -1],
    ]);
    expect(Object.entries(findSort({}))).toEqual([['_id', 1]]);
  });
});
