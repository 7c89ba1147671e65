# docker build -t spvlink . && docker run --rm -v "$PWD:/work" spvlink link a.vert a.frag -o linked
FROM debian:13-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3-venv spirv-tools glslang-tools \
    && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN python3 -m venv /opt/spvlink && /opt/spvlink/bin/pip install --no-cache-dir /src && rm -rf /src
WORKDIR /work
ENTRYPOINT ["/opt/spvlink/bin/spvlink"]
