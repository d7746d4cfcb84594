import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsIn } from 'class-validator';

/** The field must be one of these words. */
export const OneOf = (words: readonly string[]): PropertyDecorator =>
  applyDecorators(IsIn(words), ApiProperty({ enum: words }));
