import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { UnreadableBody } from '../http/json-body.js';
import { inputFields, toInput } from './to-input.js';

/** `@Body() input: CreatePostInput` receives a checked `CreatePostInput`, or the request is refused. */
@Injectable()
export class InputPipe implements PipeTransform {
  transform(value: unknown, { type, metatype }: ArgumentMetadata): unknown {
    if (type !== 'body') return value;
    if (value instanceof UnreadableBody) throw value.refusal;
    return metatype && inputFields(metatype).length > 0 ? toInput(metatype, value) : value;
  }
}
