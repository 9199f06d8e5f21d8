# The commands and the service, without PyTorch: docs/deploying.md says how to run it, `make test-image` tries it.
#
#     docker build --tag funnelling .

# The list of the images of all platforms, so that one line serves them all.
ARG BASE=python:3.13-slim@sha256:9d2e5553305c7c7b0097999bb17187c69b921ccd6bc9d40e4bb5ebe652c00285

FROM ${BASE} AS build
RUN command -v gcc >/dev/null \
 || { apt-get update -qq && apt-get install -qq --yes --no-install-recommends gcc libc6-dev; }
COPY . /source
RUN python3 -m venv /opt/build \
 && /opt/build/bin/pip wheel --quiet --no-deps --wheel-dir /wheels /source
RUN python3 -m venv --without-pip /opt/funnelling \
 && /opt/build/bin/pip --python /opt/funnelling/bin/python install --quiet --no-cache-dir --no-compile \
    "$(echo /wheels/*.whl)[serve,parquet,spreadsheet,hub]" \
 && /opt/funnelling/bin/python -c "from funnelling.svm import solver_name as name; assert name() == 'native', name()"
RUN python3 /source/packaging/image/root.py /opt/funnelling /root-of-image

FROM scratch
COPY --from=build /root-of-image /
# The root may be read-only, and the user any number without a name: what is written goes to /tmp, /cache or /data.
ENV PATH=/opt/funnelling/bin:/usr/local/bin:/usr/bin:/bin \
    LANG=C.UTF-8 \
    HOME=/tmp \
    FUNNELLING_CACHE=/cache \
    HF_HOME=/cache/huggingface \
    PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /data
# Lemmas, the model that detects languages, models of the Hub: a volume with a name keeps them for the next container.
VOLUME /cache
EXPOSE 8000
# http.client, because urllib would ask a proxy that the environment names.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python3", "-IS", "-c", "\
import http.client as http; service = http.HTTPConnection('127.0.0.1', 8000, timeout=4); \
service.request('GET', '/healthz'); raise SystemExit(service.getresponse().status != 200)"]
ENTRYPOINT ["funnelling"]
CMD ["--help"]
# Last, so that another version of the labels makes no layer anew.
ARG VERSION=unreleased
ARG REVISION=unknown
LABEL org.opencontainers.image.title="funnelling" \
      org.opencontainers.image.description="Classify documents in many languages under one set of labels" \
      org.opencontainers.image.source="https://github.com/funnelling/funnelling" \
      org.opencontainers.image.documentation="https://funnelling.github.io/funnelling/" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
