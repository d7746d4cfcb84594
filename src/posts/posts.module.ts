import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UsersModule } from '../users/users.module.js';
import { PostAuthorResolver } from './graphql/post-author.resolver.js';
import { PostsByAuthorLoader } from './graphql/posts-by-author.loader.js';
import { UserPostsResolver } from './graphql/user-posts.resolver.js';
import { Post } from './post.entity.js';
import { PostsController } from './posts.controller.js';
import { PostsService } from './posts.service.js';
import { UserPostsController } from './user-posts.controller.js';
import { ViewCounter } from './view-counter.js';

/** Posts depend on users, never the reverse: what posts add to a user lives here. */
@Module({
  imports: [TypeOrmModule.forFeature([Post]), UsersModule],
  controllers: [PostsController, UserPostsController],
  providers: [PostsService, ViewCounter, UserPostsResolver, PostAuthorResolver, PostsByAuthorLoader],
})
export class PostsModule {}
