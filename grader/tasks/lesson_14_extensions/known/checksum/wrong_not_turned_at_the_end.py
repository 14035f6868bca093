"""Leaving out the last step gives this wrong answer. Invert all 32 bits at the end."""

checksum = r"""
#include <stddef.h>
#include <stdint.h>

static uint32_t table[256];

__attribute__((constructor)) static void fill(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; bit++)
      crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
    table[i] = crc;
  }
}

uint32_t checksum(const uint8_t *data, size_t size) {
  uint32_t crc = 0xFFFFFFFF;
  while (size--)
    crc = table[(crc ^ *data++) & 255] ^ crc >> 8;
  return crc;
}
"""
