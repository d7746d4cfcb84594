# Build with every dependency, then keep the production ones and what was built.
FROM node:24.21.0-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json nest-cli.json ./
COPY src ./src
COPY public ./public
COPY tools ./tools
COPY web ./web
COPY docs ./docs
COPY README.md ./
# The image has the right Node.js already: that of the optional dependencies stays out. So do the source maps of packages,
# which are more than a quarter of their size and which nothing reads.
RUN npm run build && npm prune --omit=dev --omit=optional --no-audit --no-fund \
  && find node_modules -name '*.map' -delete

FROM node:24.21.0-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/public ./public
RUN install -d -o node -g node /data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/main.js"]
