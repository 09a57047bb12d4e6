# docker build -t bert-explorer . && docker run --rm -p 127.0.0.1:7860:7860 -v bert-explorer-runs:/data --stop-timeout 25 bert-explorer
# PIP_OPTIONS, such as an index of smaller wheels of PyTorch without CUDA, goes to pip: --build-arg PIP_OPTIONS="..."
# The image below moves with its tag. Its digest was not known where this was written; to pin it, append @ and what is printed by
# docker buildx imagetools inspect python:3.12-slim --format '{{.Manifest.Digest}}'
FROM python:3.12-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

# An account of its own: nobody who breaks in is root, and runs are all that it can write.
RUN useradd --create-home --uid 1000 explorer && install -d -m 700 -o explorer -g explorer /data

WORKDIR /app
COPY requirements.txt requirements.lock ./
ARG PIP_OPTIONS=""
# Everything by its hash; then PyTorch, whose files are others in each index, and what only its own builds need.
RUN pip install --no-deps --require-hashes -r requirements.lock && pip install ${PIP_OPTIONS} -r requirements.txt
COPY app.py ./
COPY explorer ./explorer
COPY assets ./assets

USER explorer
ENV BERT_EXPLORER_HOST=0.0.0.0 BERT_EXPLORER_PORT=7860 BERT_EXPLORER_RUNS=/data BERT_EXPLORER_LOG=json BERT_EXPLORER_PROFILE=public HF_HOME=/data/hub
VOLUME /data
EXPOSE 7860
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:7860/healthz', timeout=4)"]
CMD ["python", "app.py"]
