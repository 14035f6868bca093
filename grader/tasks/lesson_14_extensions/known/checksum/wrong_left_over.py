"""Leaving out the bytes after the last whole group of four gives this wrong answer. The answer is then wrong for sizes
that are not a multiple of four.
"""

checksum = r"""
#include <stddef.h>
#include <stdint.h>

uint32_t checksum(const uint8_t *data, size_t size) {
  uint32_t crc = 0xFFFFFFFF;
  for (size_t i = 0; i < size - size % 4; i++) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (0xEDB88320 & -(crc & 1));
  }
  return ~crc;
}
"""
