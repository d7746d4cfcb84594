import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';

/** The field must be a boolean. */
export const TrueOrFalse = (): PropertyDecorator =>
  applyDecorators(
    IsBoolean({ message: '$property must be true or false' }),
    ApiProperty({ type: 'boolean' }),
  );
