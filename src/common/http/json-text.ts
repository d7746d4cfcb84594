import { RouteConfig } from '@nestjs/platform-fastify';
import type { RouteOptions } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by {@link CarriesJsonText}. */
    carriesJsonText?: boolean;
  }
}

/** JSON that stands in an answer as it is: JavaScript would round its numbers and reorder its members. */
export class JsonText {
  /** @param text well-formed JSON */
  constructor(readonly text: string) {}
}

/** Where a text goes. JSON.stringify writes no other `"\/"`, as it escapes backslashes, and no slash. */
const PLACE = '"\\/"';
const place = JSON.rawJSON(PLACE);

/** JSON of an answer, with every {@link JsonText} in it as it is. */
export function stringify(value: unknown): string {
  const texts: string[] = [];
  const json = JSON.stringify(value, (_, member: unknown) => {
    if (!(member instanceof JsonText)) return member;
    texts.push(member.text);
    return place;
  });
  if (texts.length === 0) return json;
  return json
    .split(PLACE)
    .map((part, n) => part + (texts[n] ?? ''))
    .join('');
}

/** The handler's answer has {@link JsonText} in it. */
export const CarriesJsonText = (): MethodDecorator => RouteConfig({ carriesJsonText: true });

/** A hook for `onRoute`. */
export function serializeJsonText(route: RouteOptions): void {
  if (!route.config?.carriesJsonText) return;
  route.preSerialization = (_request, reply, payload, done) => {
    reply.serializer(stringify);
    done(null, payload);
  };
}
