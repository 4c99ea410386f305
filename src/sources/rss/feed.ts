/**
 * Reads a feed (docs/design/sources.md#feeds). Feeds break the rules of XML in known ways, so the parser is the lenient
 * one; it never reads a DTD, and everything that it returns is bounded.
 */
import sax from 'sax';
import { nextTurn } from '../../runtime/next-turn.ts';
import type { SourceFault } from '../source.ts';
import { decodeFeed } from './decode.ts';

/** An item as the feed has it: character references resolved once, white space kept. */
export interface FeedItem {
  readonly title: string;
  readonly link: string;
  readonly description: string;
  readonly guid: string;
  readonly pubDate: string;
}

export interface Feed {
  readonly title: string;
  /** The channel's description: which types of entries the court publishes. */
  readonly types: string;
  /** `lastBuildDate`, or the channel's `pubDate`; empty if it has neither. */
  readonly builtAt: string;
  /** Newest first, as feeds have them. Only items that were complete. */
  readonly items: readonly FeedItem[];
  /** Whether the feed reached its end. One that was cut off says nothing about what it does not show. */
  readonly whole: boolean;
}

export interface UnreadFeed {
  readonly fault: Extract<SourceFault, 'unavailable' | 'unreadable'>;
  readonly reason: string;
}

/** The most bytes of a body. */
export const MAX_FEED_BYTES = 10 * 1024 * 1024;
/** Far more than any court publishes in a day. */
const MAX_ITEMS = 20_000;
const MAX_FIELD = 4_000;
const MAX_DEPTH = 32;
/** Between two slices, other work of the node has its turn. */
const SLICE = 64 * 1024;

/** In the parser's letter case. */
const FIELDS: ReadonlySet<string> = new Set(['title', 'link', 'description', 'guid', 'pubdate', 'lastbuilddate']);
const ROOTS: ReadonlySet<string> = new Set(['rss', 'rdf:rdf']);

/** Stops the parser. */
class Refused extends Error {
  constructor(readonly unread: UnreadFeed) {
    super(unread.reason);
  }
}

const unreadable = (reason: string): UnreadFeed => ({ fault: 'unreadable', reason });
const PAGE: UnreadFeed = { fault: 'unavailable', reason: 'an HTML page in place of a feed' };

/** Reads a body. Never rejects. */
export async function readFeed(body: Buffer, contentType: string | undefined): Promise<Feed | UnreadFeed> {
  if (body.length === 0) return unreadable('an empty body');
  if (body.length > MAX_FEED_BYTES) return unreadable(`more than ${MAX_FEED_BYTES} bytes`);
  const text = decodeFeed(body, contentType);
  if (text === null) return unreadable('an encoding that no feed has');
  if (text.trim() === '') return unreadable('an empty body');
  const reader = new FeedReader();
  try {
    for (let at = 0; at < text.length; at += SLICE) {
      if (at > 0) await nextTurn();
      reader.write(text.slice(at, at + SLICE));
    }
    return reader.end();
  } catch (error) {
    return error instanceof Refused ? error.unread : unreadable('not XML');
  }
}

class FeedReader {
  readonly #parser = sax.parser(false, { lowercase: true, noscript: true });
  readonly #path: string[] = [];
  readonly #items: FeedItem[] = [];
  readonly #channel = new Map<string, string>();
  #item: Map<string, string> | null = null;
  #whole = false;

  constructor() {
    const parser = this.#parser;
    parser.ondoctype = (type) => {
      throw new Refused(/^\s*html\b/i.test(type) ? PAGE : unreadable('a document type, which no feed has'));
    };
    parser.onsgmldeclaration = () => {
      throw new Refused(unreadable('a declaration, which no feed has'));
    };
    parser.onopentag = ({ name }) => this.#open(name);
    parser.onclosetag = (name) => this.#close(name);
    parser.ontext = (text) => this.#text(text);
    parser.oncdata = (text) => this.#text(text);
    parser.onerror = (error) => {
      throw error;
    };
  }

  write(text: string): void {
    this.#parser.write(text);
  }

  end(): Feed | UnreadFeed {
    if (this.#path.length === 0 && !this.#whole) return unreadable('not a feed');
    const field = (name: string): string => this.#channel.get(name)?.trim() ?? '';
    const types = field('description');
    if (this.#items.length === 0 && /\bnot (?:been )?configured\b/i.test(types)) {
      return { fault: 'unavailable', reason: 'the court has not configured its feed' };
    }
    return {
      title: field('title'),
      types,
      builtAt: field('lastbuilddate') || field('pubdate'),
      items: this.#items,
      whole: this.#whole,
    };
  }

  #open(name: string): void {
    if (this.#path.length === 0 && !ROOTS.has(name)) {
      throw new Refused(name === 'html' ? PAGE : unreadable('not a feed'));
    }
    if (this.#path.length >= MAX_DEPTH) throw new Refused(unreadable('elements nested too deeply'));
    this.#path.push(name);
    if (name === 'item' && this.#item === null) this.#item = new Map();
  }

  #close(name: string): void {
    this.#path.pop();
    if (name === 'item' && this.#item !== null && !this.#path.includes('item')) this.#keep(this.#item);
    if (this.#path.length === 0) this.#whole = true;
  }

  #keep(item: ReadonlyMap<string, string>): void {
    this.#item = null;
    if (this.#items.length >= MAX_ITEMS) throw new Refused(unreadable(`more than ${MAX_ITEMS} items`));
    const field = (name: string): string => item.get(name) ?? '';
    this.#items.push({
      title: field('title'),
      link: field('link'),
      description: field('description'),
      guid: field('guid'),
      pubDate: field('pubdate'),
    });
  }

  #text(text: string): void {
    const [name, parent] = [this.#path.at(-1) ?? '', this.#path.at(-2)];
    const target = parent === 'item' ? this.#item : parent === 'channel' ? this.#channel : null;
    if (target === null || !FIELDS.has(name)) return;
    const known = target.get(name) ?? '';
    if (known.length < MAX_FIELD) target.set(name, (known + text).slice(0, MAX_FIELD));
  }
}
