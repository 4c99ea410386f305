# The service in two steps: everything is built in the first, and only what runs is kept in the second.
# The active LTS line. To pin the image, give its digest: docker build --build-arg NODE_IMAGE=node:26-trixie-slim@sha256:…
ARG NODE_IMAGE=node:26-trixie-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# On this version of Node nothing is compiled: the SQLite driver ships its binaries, so no package has to run a script.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.mjs scripts/
COPY src src
RUN npm run -s build && npm prune --omit=dev --ignore-scripts

FROM ${NODE_IMAGE}
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY bin bin
COPY registry registry
COPY fixtures fixtures
COPY docs docs
COPY examples examples
RUN mkdir /data && mkdir -m 700 /data/tmp /backups && chown node:node /data /data/tmp /backups
# No NODE_ENV: whoever runs the image says whether it is production, and production asks for more than defaults.
# TMPDIR is on the volume: /tmp may be in memory, and an audit of a large log keeps more there than memory holds.
ENV HOST=0.0.0.0 DATA_DIR=/data TMPDIR=/data/tmp
VOLUME /data
EXPOSE 8402
USER node
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "const { ADMIN_HOST: h, ADMIN_PORT: p } = process.env; const host = !h || h === '0.0.0.0' || h === '::' || h === '[::]' ? '127.0.0.1' : h.includes(':') && !h.startsWith('[') ? '[' + h + ']' : h; fetch('http://' + host + ':' + (p || 8403) + '/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# As `npm start` does: the young generation keeps its size while nobody calls.
CMD ["node", "--min-semi-space-size=16", "bin/docket.js", "serve"]
