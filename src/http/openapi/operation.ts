/** The description of one endpoint, used for both the OpenAPI document and the reference. */
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
  /** A few words, used as the heading in the reference. */
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  /** US dollars, decimal; null if free. */
  readonly price: string | null;
  readonly required?: readonly ParameterName[];
  readonly optional?: readonly ParameterName[];
  /** Parameters with another rule here than elsewhere. */
  readonly otherwise?: readonly OtherParameter[];
  readonly requestHeaders?: readonly RequestHeaderName[];
  /** Names in the path, with their descriptions. */
  readonly inPath?: Readonly<Record<string, string>>;
  readonly body?: { readonly schema: z.ZodType; readonly example: unknown };
  readonly success: Success;
  /** Whether it answers 202 while the payment is not settled. */
  readonly pending?: boolean;
  /** Whether it answers conditional requests with 304. */
  readonly cached?: boolean;
  readonly errors: readonly ErrorCode[];
  /** Whether its 402 carries terms; the 402 of a failed result does not. */
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
  /** For JSON its schema, otherwise only the media type. */
  readonly content:
    | { readonly schema: z.ZodType }
    | { readonly schemas: readonly z.ZodType[] }
    | { readonly type: string };
}
