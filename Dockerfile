# syntax=docker/dockerfile:1

# The page.
FROM node:22-slim AS page
WORKDIR /src/frontend
COPY frontend/package.json frontend/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY frontend/ ./
RUN npm run build

# The packages, in a venv that the last stage takes over whole.
FROM python:3.12-slim AS packages
ENV UV_PYTHON_DOWNLOADS=never UV_LINK_MODE=copy
COPY requirements/uv.txt requirements/run.txt /tmp/
RUN python -m venv /opt/uv \
    && /opt/uv/bin/pip install --no-cache-dir --require-hashes -r /tmp/uv.txt \
    && python -m venv --without-pip /opt/venv \
    && /opt/uv/bin/uv pip sync --no-cache --compile-bytecode --require-hashes \
       --python /opt/venv/bin/python /tmp/run.txt

FROM python:3.12-slim
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 HOST=0.0.0.0 PORT=8000 \
    DATA_DIR=/data DOCUMENTS_DIR=/documents
RUN useradd --system --uid 10001 --create-home research \
    && install -d -o research -g research /data /documents
WORKDIR /srv/research
COPY --from=packages /opt/venv /opt/venv
COPY --from=page /src/frontend/dist frontend/dist
COPY app/ app/
COPY graph/ graph/
COPY registry/ registry/
COPY docs/ docs/
COPY README.md ARCHITECTURE.md ./
USER research
VOLUME ["/data", "/documents"]
EXPOSE 8000
# Exec form: SIGTERM reaches the service itself, which then drains.
CMD ["python", "-m", "app", "serve"]
