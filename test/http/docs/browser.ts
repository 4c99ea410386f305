/** Headless Chromium, if this machine has it. `.ci/run` installs it. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Null only on a developer's machine without a browser: CI must have one. */
export async function openBrowser(): Promise<Browser | null> {
  const executablePath = PLACES.find((place) => place !== undefined && existsSync(place));
  if (executablePath === undefined) {
    if (process.env.CI) throw new Error('CI needs Chromium: .ci/run installs it');
    return null;
  }
  const quiet = ['no-first-run', 'disable-background-networking', 'disable-component-update', 'disable-sync'];
  const args = ['no-sandbox', 'disable-gpu', 'disable-quic', 'force-color-profile=srgb', ...quiet];
  return chromium.launch({ executablePath, args: args.map((name) => `--${name}`) });
}
