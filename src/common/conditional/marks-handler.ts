import { type ParamDecoratorEnhancer, SetMetadata } from '@nestjs/common';

/** For `createParamDecorator`: sets metadata of the handler whose parameter is decorated, for the reference. */
export const marksHandler =
  (key: symbol): ParamDecoratorEnhancer =>
  (target, name) => {
    SetMetadata(key, true)(target, name!, Object.getOwnPropertyDescriptor(target, name!)!);
  };
