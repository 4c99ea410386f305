/**
 * Null for a text that is not a valid URL. The only parser of foreign URLs: on Node 20 and 22, `URL.canParse` calls every
 * URL with a letter such as `ü` invalid once V8 has optimized it.
 */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
