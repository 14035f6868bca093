"""The polynomial 0x82F63B78 gives this wrong answer. It belongs to CRC-32C, which other formats use. Use 0xEDB88320."""

checksum = r"""
#include <stddef.h>
#include <stdint.h>

static uint32_t table[256];

__attribute__((constructor)) static void fill(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; bit++)
      crc = crc & 1 ? crc >> 1 ^ 0x82F63B78 : crc >> 1;
    table[i] = crc;
  }
}

uint32_t checksum(const uint8_t *data, size_t size) {
  uint32_t crc = 0xFFFFFFFF;
  while (size--)
    crc = table[(crc ^ *data++) & 255] ^ crc >> 8;
  return ~crc;
}
"""
