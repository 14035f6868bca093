"""Exercise of lesson 14: a checksum in C instead of a Python loop.

The C code is a string. The grader reads it from this file without running any Python in it. It compiles the code with
the C compiler of the machine (`gcc -O2`, or `cc -O2` without gcc), and calls it with the bytes of a tensor. It first
checks your code in a build that stops at undefined behaviour. Then it times your code in a build without these checks.

Check your work with      fairclock check 14_extensions
"""

# ------------------------------------------------------------------------------------------------------------
# The task, 10 points
#
# checksum(data, size) returns the CRC-32 of `size` bytes, as in zip and PNG files. zlib.crc32 returns the same number:
#
#     begin with crc = 0xFFFFFFFF
#     for each byte: crc ^= byte, and then eight times: if the lowest bit of crc is 1, shift crc right by one bit and
#     crc ^= 0xEDB88320, else only shift it
#     return crc with all of its bits inverted
#
# `size` may be 0. Then the answer is 0, and you must not read any byte. `data` may have any address, also an odd one.
# You must not read bytes outside of the data. You may use everything in <stddef.h>, <stdint.h> and <string.h>.
#
# The function is timed on 131072 bytes.
#
# Points: 4 of 10 for right answers, 7 when 2 times as fast as the baseline, all 10 at 6 times. The baseline is C code
# that does these steps bit by bit.

# BEGIN SOLUTION
# STUB: checksum = r"""
# STUB: #include <stddef.h>
# STUB: #include <stdint.h>
# STUB: #include <string.h>
# STUB:
# STUB: #error Remove this line, and write the function.
# STUB:
# STUB: uint32_t checksum(const uint8_t *data, size_t size) {
# STUB:   return 0;
# STUB: }
# STUB: """
checksum = r"""
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// table[n][i] is the contribution of the byte i when n zero bytes follow it.
static uint32_t table[16][256];

__attribute__((constructor)) static void fill(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; bit++)
      crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
    table[0][i] = crc;
  }
  for (int n = 1; n < 16; n++)
    for (int i = 0; i < 256; i++)
      table[n][i] = table[n - 1][i] >> 8 ^ table[0][table[n - 1][i] & 255];
}

// Return the contribution of four bytes that n zero bytes follow. The four look-ups do not wait for each other.
static uint32_t of_word(uint32_t word, int n) {
  uint32_t first = table[n + 3][word & 255] ^ table[n + 2][word >> 8 & 255];
  return first ^ table[n + 1][word >> 16 & 255] ^ table[n][word >> 24];
}

uint32_t checksum(const uint8_t *data, size_t size) {
  uint32_t crc = 0xFFFFFFFF, word[4];
  for (; size >= 16; size -= 16, data += 16) {
    memcpy(word, data, 16);  // works for any address; a cast of the pointer would require a multiple of 4
    crc = of_word(word[0] ^ crc, 12) ^ (of_word(word[1], 8) ^ (of_word(word[2], 4) ^ of_word(word[3], 0)));
  }
  while (size--)
    crc = table[0][(crc ^ *data++) & 255] ^ crc >> 8;
  return ~crc;
}
"""
# END SOLUTION
