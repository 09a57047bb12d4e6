# docker build -t bert-explorer . && docker run --rm -p 127.0.0.1:7860:7860 -v bert-explorer-runs:/data --stop-timeout 25 bert-explorer
# PIP_OPTIONS, such as an index of smaller wheels of PyTorch without CUDA, goes to pip: --build-arg PIP_OPTIONS="..."
FROM python:3.12-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

# An account of its own: nobody who breaks in is root, and runs are all that it can write.
RUN useradd --create-home --uid 1000 explorer && install -d -m 700 -o explorer -g explorer /data

WORKDIR /app
COPY requirements.txt ./
ARG PIP_OPTIONS=""
RUN pip install ${PIP_OPTIONS} -r requirements.txt
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
