import type { RouteOptions } from 'fastify';
import { ConfigureRoute } from './configure-route.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by {@link CarriesJsonText}. */
    carriesJsonText?: boolean;
  }
}

const MEMBER = 'application/json';

/**
 * JSON text that is inserted into a response unchanged: JavaScript would round its numbers and reorder members. It is
 * recognized by its only member, so it survives interceptors that copy a response member by member.
 */
export class JsonText {
  readonly [MEMBER]: string;

  /** @param text well-formed JSON */
  constructor(text: string) {
    this[MEMBER] = text;
  }
}

/** The placeholder of a text. JSON.stringify never writes `"\/"`: it escapes backslashes, but not slashes. */
const PLACE = '"\\/"';
const place = JSON.rawJSON(PLACE);

/** The JSON of a response, with the text of every {@link JsonText} in it. */
export function stringify(value: unknown): string {
  const texts: string[] = [];
  const json = JSON.stringify(value, (_, member: unknown) => {
    const text = typeof member === 'object' && member !== null ? (member as JsonText)[MEMBER] : undefined;
    if (text === undefined) return member;
    texts.push(text);
    return place;
  });
  if (texts.length === 0) return json;
  return json
    .split(PLACE)
    .map((part, n) => part + (texts[n] ?? ''))
    .join('');
}

/** A number as JSON text (TC39 "JSON.parse source text access"), which TypeScript does not type yet. */
declare global {
  interface JSON {
    rawJSON(text: string): object;
  }
}

/** Declares that the handler's response contains {@link JsonText}. */
export const CarriesJsonText = (): MethodDecorator => ConfigureRoute({ carriesJsonText: true });

/** An `onRoute` hook. */
export function serializeJsonText(route: RouteOptions): void {
  if (!route.config?.carriesJsonText) return;
  route.preSerialization = (_request, reply, payload, done) => {
    reply.serializer(stringify);
    done(null, payload);
  };
}
