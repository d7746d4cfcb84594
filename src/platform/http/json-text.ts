import fastifyPlugin from 'fastify-plugin';
import { yieldToEventLoop } from './event-loop.js';
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
 * JSON text that is inserted into a response unchanged: JavaScript would round its numbers and reorder members. It has
 * only one member, so that {@link stringify} recognizes it after interceptors have copied a response member by member.
 */
export class JsonText {
  readonly [MEMBER]: string;

  /** @param text well-formed JSON */
  constructor(text: string) {
    this[MEMBER] = text;
  }

  /** JSON.stringify calls it. */
  toJSON(): unknown {
    return texts ? insert(this[MEMBER]) : exactValueOf(this);
  }
}

/** The placeholder of a text. JSON.stringify never writes `"\/"`: it escapes backslashes, but not slashes. */
const PLACE = '"\\/"';
const place = JSON.rawJSON(PLACE);

/** The texts of the value that is being written, which is synchronous; otherwise undefined. */
let texts: string[] | undefined;

function insert(text: string): object {
  texts!.push(text);
  return place;
}

/** The JSON of a value, with the text of every {@link JsonText} in it. */
export const stringify = (value: unknown): string =>
  write(value, (_, member: unknown) => {
    const text = typeof member === 'object' && member !== null ? (member as JsonText)[MEMBER] : undefined;
    return text === undefined ? member : insert(text);
  });

/** Faster than {@link stringify}, for a value without copies of {@link JsonText}. */
export const stringifyWithoutCopies = (value: unknown): string => write(value);

function write(value: unknown, replacer?: (name: string, member: unknown) => unknown): string {
  const inserted: string[] = [];
  texts = inserted;
  try {
    const json = JSON.stringify(value, replacer);
    if (inserted.length === 0) return json;
    return json
      .split(PLACE)
      .map((part, n) => part + (inserted[n] ?? ''))
      .join('');
  } finally {
    texts = undefined;
  }
}

/** A text with more characters is written on its own. */
const LONG = 32 * 1024;

/**
 * Replaces the long texts in a value by their JSON, each in a slice of the event loop: JSON.stringify would write all of
 * them at once, and take 10 milliseconds for each megabyte.
 */
export async function writeLongTexts(value: object): Promise<void> {
  const members = value as Record<string, unknown>;
  for (const [name, member] of Object.entries(members)) {
    if (typeof member === 'string' && member.length > LONG) {
      await yieldToEventLoop();
      members[name] = new JsonText(JSON.stringify(member));
    } else if (typeof member === 'object' && member !== null && !(member instanceof JsonText)) {
      await writeLongTexts(member);
    }
  }
}

/**
 * The value of a text, for code that calls JSON.stringify itself: numbers that JavaScript would round stay as they are
 * written. Members whose names are integers come first.
 */
function exactValueOf({ [MEMBER]: text }: JsonText): unknown {
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
