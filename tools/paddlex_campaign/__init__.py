"""The architectures of PaddleX's models, with random weights, on OpenVINO and in Paddle."""
