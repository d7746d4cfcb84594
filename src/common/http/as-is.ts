import { Transform } from 'class-transformer';

/** A `ClassSerializerInterceptor` leaves the member as it is, instead of copying it into a plain object. */
export const AsIs = (): PropertyDecorator =>
  Transform(({ obj, key }) => (obj as Record<string, unknown>)[key], { toPlainOnly: true });
