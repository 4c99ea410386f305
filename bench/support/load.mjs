/** A closed loop of HTTP requests: a fixed number under way at any time, each on its own kept-alive connection. */
import { Agent, request } from 'node:http';

/**
 * Sends one GET for every set of headers.
 * @param url the URL to request; if there are several, requests go through them in turn
 * @param headersOfEach one set of headers a request
 * @param width requests under way at once
 * @returns elapsed ms, and for each request its status, latency in ms, headers, and the body if it was not a 200
 */
export async function load(url, headersOfEach, width) {
  const agent = new Agent({ keepAlive: true, maxSockets: width });
  const targets = [url].flat().map((each) => {
    const { hostname, port, pathname, search } = new URL(each);
    return { agent, hostname, port, path: pathname + search };
  });
  const answers = new Array(headersOfEach.length);
  let next = 0;
  const worker = async () => {
    while (next < headersOfEach.length) {
      const index = next;
      next += 1;
      answers[index] = await get(targets[index % targets.length], headersOfEach[index]);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: width }, worker));
  const elapsed = performance.now() - began;
  agent.destroy();
  return { elapsed, answers };
}

function get(target, headers) {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const sent = request({ ...target, headers }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const latency = performance.now() - began;
        const body = Buffer.concat(parts);
        resolve({
          status: response.statusCode,
          latency,
          bytes: body.length,
          headers: response.headers,
          body: response.statusCode === 200 ? null : body.toString('utf8').slice(0, 2000),
        });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}
