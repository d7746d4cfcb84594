import fastifyPlugin from 'fastify-plugin';
import { ConfigureRoute } from './route-config.js';
import { appendHook } from './routes.js';

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

/**
 * The value of a text, for code that calls JSON.stringify itself: numbers that JavaScript would round stay as they are
 * written. Members whose names are integers come first.
 */
export function exactValueOf({ [MEMBER]: text }: JsonText): unknown {
  return JSON.parse(text, (_name, value: unknown, { source }) =>
    typeof value === 'number' && String(value) !== source ? JSON.rawJSON(source!) : value,
  );
}

/** Numbers as JSON text (TC39 "JSON.parse source text access"), which TypeScript does not type yet. */
declare global {
  interface JSON {
    rawJSON(text: string): object;
    parse(
      text: string,
      reviver: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/** Declares that the handler's response contains {@link JsonText}. */
export const CarriesJsonText = (): MethodDecorator => ConfigureRoute({ carriesJsonText: true });

/** Serializes the responses of {@link CarriesJsonText}. */
export const jsonText = fastifyPlugin(
  (fastify, _options, done) => {
    fastify.addHook('onRoute', (route) => {
      if (!route.config?.carriesJsonText) return;
      appendHook(route, 'preSerialization', (_request, reply, payload, next) => {
        reply.serializer(stringify);
        next(null, payload);
      });
    });
    done();
  },
  { name: 'json text', dependencies: ['routes'] },
);
