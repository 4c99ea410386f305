/** What is said of one endpoint: the document and the reference are both written from it. */
import type { z } from 'zod';
import type { ErrorCode } from '../../errors.ts';
import type { ParameterName, RequestHeaderName } from '../parameters/described-parameters.ts';
import type { ResponseHeaderName } from './headers.ts';

export type Tag = 'Cases' | 'Wallet' | 'Free' | 'Agents' | 'Documentation' | 'Version 1';

export interface Operation {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly id: string;
  readonly tag: Tag;
  /** A few words; the heading in the reference. */
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  /** US dollars, decimal; null where it is free. */
  readonly price: string | null;
  readonly required?: readonly ParameterName[];
  readonly optional?: readonly ParameterName[];
  /** Names whose rule is another here than elsewhere. */
  readonly otherwise?: readonly OtherParameter[];
  readonly requestHeaders?: readonly RequestHeaderName[];
  /** Names in the path, with what they are. */
  readonly inPath?: Readonly<Record<string, string>>;
  readonly body?: { readonly schema: z.ZodType; readonly example: unknown };
  readonly success: Success;
  /** 202 while the chain has not decided. */
  readonly pending?: boolean;
  /** A copy in the cache of the caller is asked about: 304. */
  readonly cached?: boolean;
  readonly errors: readonly ErrorCode[];
  /** Whether a 402 carries terms; those of a result that failed do not. */
  readonly terms?: boolean;
  readonly deprecated?: boolean;
}

export interface OtherParameter {
  readonly name: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly example: unknown;
  readonly repeated?: boolean;
}

export interface Success {
  readonly description: string;
  readonly headers: readonly ResponseHeaderName[];
  /** Of JSON: its schema. Otherwise the media type alone. */
  readonly content:
    | { readonly schema: z.ZodType }
    | { readonly schemas: readonly z.ZodType[] }
    | { readonly type: string };
}
