import { RouteConfig } from '@nestjs/platform-fastify';
import type { RouteOptions } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by {@link CarriesJsonText}. */
    carriesJsonText?: boolean;
  }
}

const MEMBER = 'application/json';

/**
 * JSON that stands in a response as it is: JavaScript would round its numbers and reorder its members. It is
 * recognised by its only member, so it survives interceptors that copy a response member by member.
 */
export class JsonText {
  readonly [MEMBER]: string;

  /** @param text well-formed JSON */
  constructor(text: string) {
    this[MEMBER] = text;
  }
}

/** Where a text goes. JSON.stringify writes no other `"\/"`, as it escapes backslashes, and no slash. */
const PLACE = '"\\/"';
const place = JSON.rawJSON(PLACE);

/** JSON of a response, with every {@link JsonText} in it as it is. */
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

/** A number as JSON text (TC39 "JSON.parse source text access"), which TypeScript does not know yet. */
declare global {
  interface JSON {
    rawJSON(text: string): object;
  }
}

/** The handler's response contains {@link JsonText}. */
export const CarriesJsonText = (): MethodDecorator => RouteConfig({ carriesJsonText: true });

/** A hook for `onRoute`. */
export function serializeJsonText(route: RouteOptions): void {
  if (!route.config?.carriesJsonText) return;
  route.preSerialization = (_request, reply, payload, done) => {
    reply.serializer(stringify);
    done(null, payload);
  };
}
