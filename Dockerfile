# Hopscope as a container. docker build -t hopscope . && docker run --rm -p 127.0.0.1:8501:8501 -v hopscope:/data hopscope
FROM python:3.11-slim
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 HOPSCOPE_HOME=/data
WORKDIR /build
COPY . .
RUN pip install hatchling && python -m hatchling build -t wheel -d /wheel
RUN pip install -c constraints.txt "$(ls /wheel/*.whl)[llm]" && rm -rf /build /wheel
RUN useradd --create-home hopscope && mkdir /data && chown hopscope /data
WORKDIR /data
USER hopscope
VOLUME /data
EXPOSE 8501
# The container's port is published by whoever runs it; on 127.0.0.1 alone in the lines above.
CMD ["hopscope", "run", "--no-browser", "--host", "0.0.0.0", "--port", "8501"]
