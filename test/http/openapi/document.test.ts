import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../../src/http/openapi/document.ts';

describe('the OpenAPI document', () => {
  const written = JSON.parse(JSON.stringify(openApiDocument('https://dockets.example')));

  it('is OpenAPI 3.1 by its own schema, with every reference resolved', async () => {
    expect(await new Validator().validate(structuredClone(written))).toMatchObject({ valid: true });
    const schemas = Object.keys(written.components.schemas);
    for (const [, name] of JSON.stringify(written).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      expect(schemas).toContain(name);
    }
  });

  it('has no unreferenced component', () => {
    const everything = JSON.stringify(written);
    for (const kind of ['schemas', 'headers']) {
      const names = Object.keys(written.components[kind]);
      const unused = names.filter((name) => !everything.includes(`"#/components/${kind}/${name}"`));
      expect([kind, names.length > 10, unused]).toEqual([kind, true, []]);
    }
  });

  it('names both entries of a batch, and distinguishes them by their status', () => {
    const { BatchResult } = written.components.schemas;
    const [success, failure] = ['#/components/schemas/BatchSuccess', '#/components/schemas/BatchFailure'];
    expect(BatchResult.anyOf).toEqual([{ $ref: success }, { $ref: failure }]);
    expect(BatchResult.discriminator).toEqual({ propertyName: 'status', mapping: { success, error: failure } });
  });

  it('describes every operation', () => {
    for (const [path, item] of Object.entries<Record<string, { description?: string }>>(written.paths)) {
      for (const [method, { description }] of Object.entries(item)) {
        expect([path, method, Boolean(description)]).toEqual([path, method, true]);
      }
    }
  });
});
