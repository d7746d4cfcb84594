import fastifyPlugin from 'fastify-plugin';
import { ConfigureRoute } from './route-config.js';

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

/** Serializes the responses of {@link CarriesJsonText}. */
export const jsonText = fastifyPlugin(
  (fastify, _options, done) => {
    fastify.addHook('onRoute', (route) => {
      if (!route.config?.carriesJsonText) return;
      route.preSerialization = [
        ...[route.preSerialization ?? []].flat(),
        (_request, reply, payload, next) => {
          reply.serializer(stringify);
          next(null, payload);
        },
      ];
    });
    done();
  },
  { name: 'json text', dependencies: ['routes'] },
);
