import { request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { isIP } from 'node:net';
import { SERVICE } from '../platform/config/package.js';
import { createResolver, isPublicAddress, PrivateAddressError, publicLookup } from './public-address.js';
import { createHmac } from 'node:crypto';
import { PREFIX } from './webhook-secrets.js';

/** Resolves names for webhooks that must be public. */
const LOOKUP = publicLookup(createResolver);

/** Of one attempt, in milliseconds; less than the lease of a delivery. */
const TIMEOUT = 10_000;

/** 64 KiB: how much of a response is read, in bytes. */
const MAX_RESPONSE = 64 * 1024;

/** How long the rest of a response may take after its status, in milliseconds. */
const REST = 1000;

/**
 * Posts a body. Redirects are not followed. The status counts even if the rest of the response fails.
 *
 * @param allowPrivate whether the address may be outside of the public Internet
 * @param lookup resolves the name, unless private addresses are allowed
 * @returns the status
 * @throws Error if there is none in time
 */
export function post(
  url: URL,
  body: Buffer,
  headers: Readonly<Record<string, string>>,
  allowPrivate: boolean,
  lookup = LOOKUP,
): Promise<number> {
  const hostname = url.hostname.replaceAll(/[[\]]/g, '');
  if (!allowPrivate && isIP(hostname) !== 0 && !isPublicAddress(hostname)) {
    return Promise.reject(new PrivateAddressError());
  }
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestByHttps : requestByHttp)(url, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'content-length': body.length,
        'user-agent': `${SERVICE.name}-webhooks/1`,
        ...headers,
      },
      ...(!allowPrivate && { lookup }),
    });
    let timer = setTimeout(() => {
      request.destroy(new Error(`There was no response within ${TIMEOUT / 1000} seconds`));
    }, TIMEOUT);
    request.once('close', () => clearTimeout(timer));
    // It may emit several errors, and one without a listener ends the process.
    request.on('error', reject);
    // Node closes a connection with an unhandled upgrade, and reports neither a response nor an error.
    request.once('upgrade', ({ statusCode }, socket) => {
      socket.destroy();
      resolve(statusCode ?? 0);
    });
    request.once('response', (response) => {
      resolve(response.statusCode ?? 0);
      clearTimeout(timer);
      timer = setTimeout(() => request.destroy(), REST);
      let received = 0;
      response.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received > MAX_RESPONSE) request.destroy();
      });
      response.on('error', () => undefined);
    });
    request.end(body);
  });
}

interface Message {
  readonly id: string;
  /** In seconds since the epoch. */
  readonly timestamp: number;
  readonly body: Buffer;
}

/** The headers of an attempt (Standard Webhooks 1.0), with a signature of each secret. */
export function signedHeaders(
  { id, timestamp, body }: Message,
  secrets: readonly string[],
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
