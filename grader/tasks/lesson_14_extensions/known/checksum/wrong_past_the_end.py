"""Reading the last word beyond the end of the data gives this wrong answer. The bytes after the end then change the
checksum.
"""

checksum = r"""
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint32_t table[4][256];

__attribute__((constructor)) static void fill(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; bit++)
      crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
    table[0][i] = crc;
  }
  for (int n = 1; n < 4; n++)
    for (int i = 0; i < 256; i++)
      table[n][i] = table[n - 1][i] >> 8 ^ table[0][table[n - 1][i] & 255];
}

uint32_t checksum(const uint8_t *data, size_t size) {
  uint32_t crc = 0xFFFFFFFF;
  for (size_t words = (size + 3) / 4; words; words--, data += 4) {
    uint32_t word;
    memcpy(&word, data, 4);
    word ^= crc;
    crc = table[3][word & 255] ^ table[2][word >> 8 & 255] ^ table[1][word >> 16 & 255] ^ table[0][word >> 24];
  }
  return ~crc;
}
"""
