# The command line in a container, without root, for a folder of yours:
#   docker build -t paraloom . && docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" paraloom quickstart
FROM python:3.11-slim AS build
COPY . /source
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.11-slim
# Extras, such as [train], at build time: --build-arg EXTRAS='[train]'
ARG EXTRAS=""
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    --mount=type=bind,source=constraints.txt,target=/constraints.txt \
    pip install --no-cache-dir --constraint /constraints.txt "$(ls /wheels/paraloom-*.whl)${EXTRAS}" \
    && useradd --create-home paraloom \
    && install -d --owner=paraloom /data
# Any user may run it: what is compiled or downloaded is kept below /tmp unless a volume is mounted there.
ENV HOME=/tmp NUMBA_CACHE_DIR=/tmp/numba PYTHONUNBUFFERED=1
USER paraloom
WORKDIR /data
ENTRYPOINT ["paraloom"]
CMD ["--help"]
