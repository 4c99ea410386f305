/** Finds the components that a document refers to: linters report unreferenced components as errors. */
import type { JsonObject } from '../../events/event.ts';

type Components = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

const REFERENCE = /"\$ref":"#\/components\/([^"/]+)\/([^"/]+)"/g;

/**
 * The components, by kind and name, that `roots` refers to, directly or through other components.
 * References are `#/components/KIND/NAME`, with names that need no escaping in a JSON pointer.
 */
export function referenced<All extends Components>(roots: JsonObject, components: All): All {
  const found = new Set<string>();
  const follow = (node: JsonObject): void => {
    for (const [, kind = '', name = ''] of JSON.stringify(node).matchAll(REFERENCE)) {
      const key = `${kind}/${name}`;
      const component = components[kind]?.[name];
      if (component === undefined || found.has(key)) continue;
      found.add(key);
      follow(component);
    }
  };
  follow(roots);
  return Object.fromEntries(
    Object.entries(components).map(([kind, named]) => [
      kind,
      Object.fromEntries(Object.entries(named).filter(([name]) => found.has(`${kind}/${name}`))),
    ]),
  ) as All;
}
