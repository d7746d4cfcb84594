import { until } from './until.ts';

/** Events arrive while the stream is open: the proxy does not collect them. */
export async function checkStream(site: string): Promise<void> {
  const abort = new AbortController();
  const response = await fetch(`${site}/v1/events/stream`, { signal: abort.signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  await fetch(`${site}/v1/dummies`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"text":"A"}',
  });
  let received = '';
  await until('the event arrives', async () => {
    received += (await reader.read()).value ?? '';
    return received.includes('event: dummy.created');
  });
  abort.abort();
}
