import { describe, it } from 'vitest';
import { holdsOver } from './loop.model.ts';

const HISTORIES = 10_000;

describe('the loop of queried_at and last_checked', () => {
  it(`holds over ${HISTORIES} generated histories`, () => holdsOver(HISTORIES));
});
