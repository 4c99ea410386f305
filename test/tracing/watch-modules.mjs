/** Preloaded (`--import`): writes every module of OpenTelemetry that a program or its threads load to a file. */
import { register } from 'node:module';

const hooks = `
import { appendFileSync } from 'node:fs';
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  if (found.url.includes('opentelemetry') && found.url.includes('node_modules')) {
    appendFileSync(process.env.LOADED_MODULES, found.url + '\\n');
  }
  return found;
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
