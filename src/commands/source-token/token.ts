/** Tokens with which sources push dockets: 256 random bits. The log has only their hash, so they cannot be shown again. */
import { createHash, randomBytes } from 'node:crypto';

/** By this beginning, scanners for leaked secrets recognise a token. */
const PREFIX = 'dkt_push_';
const TOKEN = /^dkt_push_[A-Za-z0-9_-]{43}$/;

export const newSourceToken = (): string => PREFIX + randomBytes(32).toString('base64url');

/** Whether a text can be a token at all. */
export const isSourceToken = (text: string): boolean => TOKEN.test(text);

/** What the log keeps of a token. Only hashes are compared, so timing does not reveal how much of a guess is right. */
export const sourceTokenHash = (token: string): string => createHash('sha256').update(token).digest('hex');

/** How operators name a token: the beginning of its hash, which reveals nothing of the token. */
export const sourceTokenId = (tokenHash: string): string => tokenHash.slice(0, 12);
