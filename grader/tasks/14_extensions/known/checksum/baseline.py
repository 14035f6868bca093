import torch


def entry(crc):
    for _ in range(8):
        crc = (crc >> 1) ^ 0xEDB88320 if crc & 1 else crc >> 1
    return crc


TABLE = [entry(byte) for byte in range(256)]


def checksum(data):
    crc = 0xFFFFFFFF
    for byte in data.tolist():
        crc = TABLE[(crc ^ byte) & 255] ^ (crc >> 8)
    return torch.tensor([*(crc ^ 0xFFFFFFFF).to_bytes(4, "little")], dtype=torch.uint8)
