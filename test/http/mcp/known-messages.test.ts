import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMessage } from '../../../src/http/mcp/json-rpc.ts';
import { rememberingRequests } from '../../../src/http/mcp/known-messages.ts';

describe('requests that were parsed before', () => {
  it('are not parsed again, regardless of their id', () => {
    let readings = 0;
    const read = rememberingRequests((body) => {
      readings++;
      return readMessage(body);
    });
    for (let id = 0; id < 50; id++) {
      const message = { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'service_status', arguments: {} } };
      const { id: _, jsonrpc: __, ...rest } = message;
      for (const text of [JSON.stringify(message), JSON.stringify({ ...rest, jsonrpc: '2.0', id })]) {
        expect(read(Buffer.from(text))).toEqual({ kind: 'request', id, method: 'tools/call', params: message.params });
      }
    }
    expect(readings).toBe(2);
  });

  it.each(['"id"', '"\\u0069d"'])('have the id that a JSON parser sees, if %s occurs a second time', (name) => {
    const read = rememberingRequests(readMessage);
    const twice = (id: number) => Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"ping",${name}:9}`);
    for (const id of [9, 5, 9]) expect(read(twice(id))).toMatchObject({ kind: 'request', id: 9 });
  });

  it('give the same result as if each was parsed again', () => {
    const read = rememberingRequests(readMessage);
    const piece = fc.constantFrom(
      '{"jsonrpc":"2.0","id":1,',
      '{"jsonrpc":"2.0","id":02,',
      ',"jsonrpc":"2.0","id":7}',
      ',"jsonrpc":"2.0","id":123456789012345678}',
      '"method":"ping"',
      '{"method":"ping"',
      '"id":9,',
      ',"id":9}',
      ',"\\u0069d":9}',
      ',"id":"text"',
      ',"params":{"a":"é"}',
      ',"params":[]',
      '{',
      '}',
      ',',
    );
    const text = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, (body) => {
        const bytes = Buffer.from(body);
        for (let again = 0; again < 2; again++) expect(read(bytes)).toEqual(readMessage(bytes));
      }),
      { numRuns: 3_000 },
    );
  });
});
