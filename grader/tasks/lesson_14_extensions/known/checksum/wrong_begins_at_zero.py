"""Beginning with crc = 0 gives this wrong answer. Begin with all 32 bits set. Otherwise zeros at the beginning of the
data do not change the checksum.
"""

checksum = r"""
#include <stddef.h>
#include <stdint.h>

uint32_t checksum(const uint8_t *data, size_t size) {
  uint32_t crc = 0;
  for (size_t i = 0; i < size; i++) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (0xEDB88320 & -(crc & 1));
  }
  return ~crc;
}
"""
