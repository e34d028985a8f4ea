# What agents run in with --sandbox docker: the claude CLI from npm, and what the checks of a Python task need.
ARG BASE_IMAGE=debian:bookworm-slim

FROM $BASE_IMAGE AS cli
ENV DEBIAN_FRONTEND=noninteractive NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates npm && rm -rf /var/lib/apt/lists/*
ARG CLAUDE_VERSION=latest
RUN npm install --global --prefix /opt/claude "@anthropic-ai/claude-code@$CLAUDE_VERSION" && \
    cp -L /opt/claude/bin/claude /usr/local/bin/claude && rm -rf /opt/claude /root/.npm && claude --version

FROM $BASE_IMAGE
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update && \
    apt-get install -y --no-install-recommends ca-certificates git procps python3 python3-pytest && \
    rm -rf /var/lib/apt/lists/*
COPY --from=cli /usr/local/bin/claude /usr/local/bin/claude
