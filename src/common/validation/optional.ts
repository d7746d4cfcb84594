import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';

/** The field may be absent or null, which have the same meaning. */
export const Optional = (): PropertyDecorator =>
  applyDecorators(IsOptional(), ApiProperty({ required: false, nullable: true }));
