import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { User } from './user.entity.js';
import { UsersV1Controller } from './users-v1.controller.js';
import { UsersV2Controller } from './users-v2.controller.js';
import { UsersResolver } from './users.resolver.js';
import { UsersService } from './users.service.js';

/** Public profiles; accounts, with which people log in, are another matter. */
@Module({
  imports: [TypeOrmModule.forFeature([User])],
  controllers: [UsersV1Controller, UsersV2Controller],
  providers: [UsersService, UsersResolver],
  exports: [UsersService],
})
export class UsersModule {}
