import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../../src/http/openapi/document.ts';

describe('the OpenAPI document', () => {
  const written = JSON.parse(JSON.stringify(openApiDocument('https://dockets.example')));

  it('is OpenAPI 3.1 by its own schema, with every reference in place', async () => {
    expect(await new Validator().validate(structuredClone(written))).toMatchObject({ valid: true });
    const schemas = Object.keys(written.components.schemas);
    for (const [, name] of JSON.stringify(written).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      expect(schemas).toContain(name);
    }
  });
});
